"""The sentences that `check` and `predict` may say in any exercise, each under a short key.

This is the one place to improve them. Code and tests name them by key: `say("no return")`. Curly brackets are filled in.
Sentences for a single exercise are in that lesson's module.
"""

from __future__ import annotations

REPLIES = {
    # nothing to judge yet
    "blank": "Replace the `...` in `{name}` with your answer and run the cell again.",
    "blank left": "There is still a `...` in it. Replace it with your own code and run the cell again.",
    "blanks": "Still to do: {names}.",
    "no answer": 'Pass your answer: `check("{id}", {names})`.',
    "answers": 'Pass {count} answers: `check("{id}", {names})`.',
    "solved before": "You have solved this one before.",
    "tried before": "So far: {count} {tries}.",
    "stopped by you": "You stopped it. Run the cell again when you are ready.",
    # the answer is of the wrong kind
    "not a class": "`{name}` is {what}, not a class. Pass the class `{name}` itself, without parentheses.",
    "not a function": (
        "`{name}` is {what}, not a function. Begin with `def {call}:`, and pass `{name}` itself, without calling it."
    ),
    "signature": "`{name}` must accept `{call}`; yours is `{yours}`.",
    "letter": 'That is {kind}. Enter a letter in quotes, such as `"a"`.',
    "one letter": 'Enter one of the letters in quotes, such as `"a"`.',
    "no such letter": "There is no `{letter}`: the letters are {first} to {last}.",
    "unread": "I cannot read `{part}`. {enter}: insert the values and compute the result.",
    "enter": "That is {kind}. {enter}.",
    "not None": "`None` means that nothing is computed. Something is computed here.",
    "one number": "Enter one number, not a list. (Python reads `8,000` as two numbers: write 8000.)",
    "list": "Enter a list of {count} numbers, one for each entry.",
    "table": "Enter a table of {rows} rows with {columns} numbers each.",
    "lies": "Yours is transposed.",
    "a number": "Enter a number",
    "a number or None": "Enter a number or `None`",
    "numbers": "Enter a list of numbers",
    # a typed answer of the right kind that is wrong
    "no": "That is not it.",
    "sign": "The size is right, the sign is not.",
    "near": "Very close. Did you round, or use a finite difference? Enter the exact number.",
    "rounded": "Close. Give one or two more digits, or write a fraction.",
    "entry": "One entry is not right yet, at `{index}`: {value}.",
    "entries": "{count} entries are not right yet, the first at `{index}`: {value}.",
    "go through": "Work that one out again.",
    "brackets": "With all its brackets, in the shape {shape}, it is `{right}`.",
    "allowed": "Only {numbers} are possible here.",
    "negative count": "A count cannot be negative.",
    "whole count": "A count is a whole number.",
    "multiple": "The answer is a multiple of {unit}.",
    # what a function did
    "switched off": (
        "Your code switched recording off and left it off. Use the switch as a block, `with torch.no_grad():`, "
        "and it is switched back at the end of the block."
    ),
    "in place": (
        "Your function changes its input `{name}` in place: it was {before} and is now {now}. The caller still needs "
        "the old value. Make a new one instead."
    ),
    "not a tensor": "The values are right, but this is not a tensor. Return a tensor.",
    "type": "It returns {what}, a `{got}`. Return {article} `{want}`: the caller computes with the result.",
    "return several": "Return {count} values: `return {names}`.",
    "return these": "Return {count} values: {names}.",
    "one of several": "That is `{name}`, and it is right. {several}",
    "returns one": "It returns {what}, `{value}`. {several}",
    "returns some": "It returns {count}. {several}",
    "order of several": "The values are right, but they are returned in a different order. {several}",
    "part is None": "`{name}` is `None`. Return a value for it.",
    "not yours": (
        "`{name}` is not passed to your function: it comes from a cell above, in the notebook. Your "
        "function never reads `{unread}`."
    ),
    "never read": "Your function never reads `{unread}`.",
    "not handed over": "`{name}` is not passed to your function: it comes from a cell above, in the notebook.",
    "grad is None": "`.grad` is `None`: no gradient has arrived. {right}",
    "no return": "It returns `None`. Is there a `return`?",
    "None there": "It is `None`. {right} Is a `return` missing, or did you put `None` there?",
    "not a number": "That is {kind}. Return a number or a tensor.",
    "None in quotes": "That is a string. Use `None` itself, without quotes.",
    "count of values": "Return {count} values.",
    "shape": "Its shape is {got}; it should be {want}.",
    "transpose": "Is a transpose missing, or one too many?",
    "sum or mean": "Is a sum or a mean missing?",
    "one for all": "You have one number where each entry needs its own.",
    "sum": "Is a sum missing? Along which axis?",
    "wrong axis": "Was it summed along the wrong axis?",
    "not finite": "There is an inf or a nan in it: something overflowed, or was divided by zero.",
    "zero": "It is 0.",
    "zeros": "It is zero everywhere.",
    "too large": "It is exactly {count} times what it should be.",
    "too small": "It is exactly 1/{count} of what it should be.",
    "right": "`{right}` is right.",
    "right so far": "(Before that it was right: {label})",
    "shape right": "The shape is right. {place}",
    # it did not finish
    "out of time": (
        "Stopped after {seconds} seconds. Is there an infinite loop? Look at the condition of each `while`: what in the loop "
        "changes it? Does a function call itself endlessly? Or is the same thing computed again and again?"
    ),
    "stuck in C": (
        "{line} does not come to an end, and Python cannot stop it: it loops inside a single call. Restart the kernel (in "
        "the Kernel menu). What you have solved is kept."
    ),
    "NameError": "Python does not know that name. Is it misspelt, or defined in a cell that has not run yet?",
    "UnboundLocalError": "That name has no value here yet: it gets one further down, or in a branch that did not run.",
    "AttributeError": "The value before the dot is not what the line expects. Print it, and its type.",
    "ZeroDivisionError": "Something is divided by zero. Which of the inputs is 0 there?",
    "IndexError": "The index is past the end. Print the length, or the shape, first.",
    "KeyError": "The dictionary has no such key. Print its keys.",
    "RecursionError": "The function calls itself and never comes to an end.",
    "SystemExit": "`exit()` and `quit()` stop the kernel. Use `return` to leave a function.",
    "TypeError": "A value has a different type from what that line expects. Print it, and its type.",
    "attribute of None": (
        "The value before `.{what}` is `None`. Has no gradient arrived there, or does a function return nothing?"
    ),
    "None among operands": "One of the values is `None`. Has no gradient arrived there, or does a function return nothing?",
    "not called": "A function or method is named there without its parentheses, so it was not called.",
    "zero_grad of a tensor": "Only optimizers and modules have `zero_grad()`. A tensor has its `.grad`: set that.",
    "attribute of a number": "The value before `.{what}` is a plain number, not a tensor.",
    "attribute of an array": "The value before `.{what}` is a NumPy array, not a tensor.",
    "other operands": "One of the values is a {what}. That line needs numbers or tensors.",
    "not callable": "The parentheses come after something that is not a function. Is an operator missing, such as `*`?",
    "other arguments": "That function takes different arguments. Compare the call with its `def` line or its `help`.",
    "unpack": "On the left of the `=` there must be as many names as there are values on the right.",
    "unpack nothing": (
        "There is nothing on the right of the `=`. (With `ctx.saved_tensors`: `forward` has saved nothing.)"
    ),
    "tuple": "That is a tuple, perhaps of one value. Take out what you need with `(x,) = ...` or with an index.",
    "not in list": "`remove` takes out one of the items, and the one you asked for is not among them: print both.",
    "broadcast": (
        "The two shapes do not fit. Print both: compared from the right, two sizes must be equal, or one of them must be 1."
    ),
    "reshape": "Reshaping keeps the number of entries. To get fewer of them, sum along an axis.",
    "leaf in place": (
        "A leaf that asks for a gradient may be changed in place only where nothing is recorded: inside "
        "`with torch.no_grad():`."
    ),
    "not a scalar": (
        "`backward()` without an argument starts from a single number. Make one number first, or pass a gradient of the same "
        "shape."
    ),
    "matmul": "The first matrix must have as many columns as the second has rows.",
    "second backward": (
        "this graph was used by an earlier backward pass, which freed its saved tensors. So something here was computed "
        "*before* that pass. Which line made it, and should that line run again in every iteration?"
    ),
    "no graph": (
        "nothing was recorded for this result, so there is no graph to go back through. Was everything before it detached "
        "or made under `no_grad`, or does no input have `requires_grad=True`?"
    ),
    "changed in place": (
        "a value that the backward pass needs was changed in place after it was saved. Make a new tensor instead of "
        "writing into this one."
    ),
    "one element": (
        "that line needs a single Python number, but this tensor has several. `math` works on one number; "
        "`torch.exp` and the like work on all of them at once."
    ),
    "truth value": (
        "Python needs one yes or no here (`if`, `while`, `and`, `not`, `a < x < b`, `max`, `in`), and a tensor with several "
        "entries has one for each. Entry by entry: `&` for `and`, `torch.where` for `if`, `torch.clamp` for `max` and "
        "`min`. For one answer: `.all()` or `.any()`."
    ),
    "read-only": (
        "that line writes into the array that arrived. The array is not yours: other code may use it too. Make a new one."
    ),
    # predictions
    "predict": "Replace `...` with your prediction and run this cell, or go on: nothing depends on it.",
    "not an answer": "That is not an answer. {wanted}",
    "noted": "You expect `{guess}`. Now run the next cells and see.",
    # the machinery
    "damaged": (
        "Your progress file {file} could not be read in full. It has been put aside as {aside}, and a new one has been started "
        "with what could be read."
    ),
    "newer": (
        "Your progress file {file} was written by a newer version of the lessons. It is left as it is: what you solve now is "
        "remembered only until this notebook is closed."
    ),
    "unsaved": "Your progress file {file} cannot be written ({why}). It is remembered until this notebook is closed.",
    "last hint": 'That was the last hint. `solution("{id}")` shows one way, and why it works.',
    "closed": 'Your teacher has closed the solutions for now. `hint("{id}")` helps a little at a time.',
    "saved": "Your predictions, tries and solved exercises are in `{name}`. The file holds no name and no times, and "
    "none of your code, only the replies to it.",
    "save as json": '`{name}` should be a name that ends in `.json`, such as `progress(save="ada.json")`.',
    "not saved": "`{name}` could not be written ({error}). Nothing else has changed.",
    "stuck": 'Stuck? `hint("{id}")` helps a little at a time.',
    "our fault": (
        "The check of {id} could not read this answer ({error}). That is a bug in the lesson, not a mistake of yours; please "
        "report it."
    ),
}


def say(key: str, **values: object) -> str:
    """The sentence `key`, with `values` filled in."""
    return REPLIES[key].format(**values)
