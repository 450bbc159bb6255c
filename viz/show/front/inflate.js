// Unpacks what page.py packs: deflated text, with every four bytes as five base85 digits, none of them special in HTML or JSON.
function inflate(text) {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#[%,()*+-;.=/?@^_:{|}~";
  const whole = text.padEnd(Math.ceil(text.length / 5) * 5, "~"), words = new DataView(new ArrayBuffer(whole.length * 4 / 5));
  const value = (five) => [...five].reduce((word, digit) => word * 85 + digits.indexOf(digit), 0);
  for (let i = 0; i < whole.length; i += 5) words.setUint32(i * 4 / 5, value(whole.slice(i, i + 5)));
  const { body } = new Response(words.buffer.slice(0, Math.floor(text.length * 4 / 5)));
  return body.pipeThrough(new DecompressionStream("deflate"));
}
