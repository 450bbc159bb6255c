"""What the user sees: the stepper, its pages, questions, sliders. The front end is in front/."""
