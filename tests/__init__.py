"""The tests of minigrad, viz, the lessons and the project itself."""
