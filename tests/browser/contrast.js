// Finds one control of each look, and how much its text and its outline stand out.
() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) layers.push(read(getComputedStyle(each).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  window.contrastOf = (element) => {
    const style = getComputedStyle(element), ground = behind(element);
    const hasOutline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    const around = parseFloat(style.outlineOffset) < 0 ? ground : behind(element.parentElement);
    return {
      text: ratio(over(read(style.color), ground), ground),
      outline: hasOutline ? ratio(over(read(style.outlineColor), around), around) : null,
    };
  };
  const seen = new Set();
  const look = (e) => [e.tagName, e.className, e.getAttribute("aria-current"), e.parentElement.className, e.closest("table, nav, form")?.className].join("|");
  return [...document.querySelectorAll("a, button, summary, .option, [aria-current]")].flatMap((element, at) => {
    element.dataset.at = at;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const isShown = element.checkVisibility() && element.getClientRects().length && own;
    if (!isShown || element.disabled || element.closest("svg, .skip") || seen.has(look(element))) return [];
    seen.add(look(element));
    return [at];
  });
}
