"""What a person takes hold of: the stepper, its pages, questions, sliders; the front end is in front/."""
