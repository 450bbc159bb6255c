// Predict before reveal: the questions. A page without questions does not include this file and answers.js.

import { judge, parseAnswer, remember, remembers } from "./answers.js";
import { h, textButton } from "./elements.js";
import { shapeText } from "./numbers.js";
import { abilities } from "./pane.js";
import { timeline } from "./timeline.js";

Object.assign(abilities, {
  wishes() { return !remembers(); },

  // The last step whose question had been answered or revealed before this pane was made; those are not asked again.
  answered() {
    const done = new Set((this.model.get("answers") || []).filter(({ outcome }) => ["right", "shown"].includes(outcome)).map(({ step }) => step));
    const open = this.data.steps.findIndex((_, i) => this.questions[i + 1] && !done.has(i + 1));
    return open < 0 ? this.data.steps.length : open;
  },

  setAsking(yes) {
    remember(!yes);
    this.asking = this.askBox.checked = yes;
    this.limit = Math.max(0, this.k);
    this.leafPanel = null;
    this.time = timeline(this.data, this.drawn, yes);
    this.painted = null;
    const at = this.shown;
    this.shown = null;
    this.show(at);
  },

  // Asks the question before step n: what arrives and the rule are shown, the learner enters the result.
  pose(n) {
    this.posed = n;
    this.card = n && this.questionCard(n, this.questions[n]);
    this.fillPanels();
    this.layOutPanels();
    if (!n) return; // the question is closed
    if (this.questions[n].kind !== "order") this.followNow();
    this.sentence.textContent = `Predict step ${n} of ${this.data.steps.length}.`;
    if (this.frame.contains(document.activeElement) && document.activeElement.type !== "range") (this.card.querySelector("input, .mgv-chip") || this.card).focus({ preventScroll: true });
  },

  askedPanel() {
    const step = this.data.steps[this.posed - 1];
    return this.questions[this.posed].kind === "order" ? [this.card] : [this.card, this.receives(step, true), step.accumulate ? this.stores(step, true) : this.rule(step, true)];
  },

  questionCard(n, question) {
    const feedback = h("p.feedback", { role: "status", "aria-live": "polite" });
    this.feedback = feedback;
    const outs = h("p.outs", textButton("Show this step", () => this.reveal(n, "shown")), this.options.insist ? "" : textButton("Just show me from now on", () => { this.note(n, null, "shown"); this.setAsking(false); this.go(this.ahead + n); this.frame.focus(); }));
    let form;
    if (question.kind === "order") {
      const chips = Object.keys(this.time.fired).filter((id) => this.time.fired[id].at(-1) >= n).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))).slice(0, 12).map((id) => this.chip(id));
      form = h("div.choices", h("p.note", "Click it in the picture, or here:"), chips);
    } else if (question.kind === "shape") {
      form = h("div.choices", question.choices.map((choice) => h("button.chip", { onclick: () => {
        const right = String(choice.shape) === String(question.answer.shape);
        this.note(n, shapeText(choice.shape), right ? "right" : choice.cause);
        right ? this.reveal(n, "right") : (feedback.textContent = `Not yet. ${choice.says}`);
      } }, shapeText(choice.shape))));
    } else {
      const input = h("input.answer", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": question.text, placeholder: "3, [1, 2] or [[1], [2]]" });
      // not a form: JupyterLab does not let Enter submit one in a cell, and a sandboxed frame blocks forms; after an error the learner types again
      const check = () => { this.answer(n, question, input.value); if (input.isConnected) input.focus({ preventScroll: true }); };
      input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); event.stopPropagation(); check(); } });
      form = h("div.form", input, h("button.submit", { onclick: check }, "Check"));
    }
    return this.column("Predict", h("p.ask", question.text), form, feedback, outs);
  },

  answer(n, question, text) {
    const parsed = parseAnswer(text, question.answer.values.length);
    if (parsed.unread !== undefined) {
      this.feedback.textContent = `${parsed.unread ? `I cannot read "${parsed.unread}". ` : ""}Enter a number such as 3, 1/3 or nan, or a list such as [1, 2] or [[1], [2]].`;
      return;
    }
    const { right, cause, says, remark } = judge(parsed, question);
    this.note(n, text, right ? "right" : cause);
    if (right) this.reveal(n, "right", remark);
    else this.feedback.textContent = `Not yet. ${says}`;
  },

  answerOrder(id) {
    const n = this.posed, question = this.questions[n];
    const ready = (this.time.members[id] || [id]).find((f) => question.ready.includes(f)); // for a folded box, any node in it that is ready
    const who = ready ?? this.time.members[id]?.[0] ?? id, at = this.time.fired[who]?.at(-1);
    if (question.ready.includes(who)) {
      const more = who === question.next ? "" : ` It may fire. Of the ready nodes, the engine takes the newest first: ${this.nodeName(question.next)}.`;
      this.note(n, this.nodeName(who), "right");
      return this.reveal(n, "right", more);
    }
    const says = at < n ? `${this.nodeName(who)} has fired already. Firing it again would send its gradient twice.`
      : question.early[who] || (at ? `No gradient has reached ${this.nodeName(who)} yet.` : `${this.nodeName(id)} is not a node of the backward pass.`);
    this.note(n, this.nodeName(id), at < n ? "fires twice" : question.early[who] ? "early" : "nothing arrived");
    this.feedback.textContent = `Not yet. ${says}`;
  },

  reveal(n, how, more = "") {
    const inside = this.frame.contains(document.activeElement);
    if (how === "shown") this.note(n, null, how);
    this.limit = n;
    this.go(this.ahead + n);
    if (how === "right") this.sentence.textContent = `Correct.${more} ${this.data.steps[n - 1].sentence}`;
    if (inside) this.frame.focus({ preventScroll: true });
  },

  // The answers; Python reads them as stepper.answers.
  note(n, given, outcome) {
    this.model.set("answers", [...(this.model.get("answers") || []), { step: n, given, outcome }]);
    this.model.save_changes();
  },
});
