// In JupyterLab: a message if Python does not start, or was lost on the way. The first page has loaded everything, but a
// bookmark leads past it, and a browser may discard what it has stored.
(() => {
  const SLOW = 20000; // milliseconds in which Python starts even on a slow computer
  const bar = document.createElement("div");
  bar.setAttribute("role", "status");
  bar.style.cssText = "position: fixed; z-index: 100000; bottom: 0; left: 0; right: 0; padding: 10px 16px; font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff4e5; border-top: 3px solid #d55e00";
  const say = (sentence) => {
    bar.textContent = sentence;
    if (!bar.isConnected) document.body.append(bar);
  };
  const slow = () => {
    if (!window.jupyterapp) return true;
    const context = window.jupyterapp.shell.currentWidget?.sessionContext; // none where no notebook is open
    return Boolean(context) && [undefined, "unknown", "starting", "dead"].includes(context.session?.kernel?.status);
  };
  const look = async () => {
    if (!slow()) return;
    try {
      await downloadAll(new URL("..", location), (share, words) => slow() && say(`Python is still loading: ${words}.`));
      say("Python is starting …");
      const wait = setInterval(() => { if (!slow()) { clearInterval(wait); bar.remove(); } }, 500);
    } catch (error) {
      say(`Python cannot start: ${error.message} Then load this page again; what you wrote is kept.`);
    }
  };
  setTimeout(look, SLOW);
})();
