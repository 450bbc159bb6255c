"""The parts that a person uses: the stepper, its pages, questions, sliders; the front end is in front/."""
