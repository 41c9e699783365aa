/** Draws a terminal's rows as an SVG that looks the same with every font: each span has the width of its columns. */

const CELL = { width: 8.4, height: 18 };
const MARGIN = { x: 16, top: 44, bottom: 18 };
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const BACKGROUND = '#15181d';
const FOREGROUND = '#d6dae0';
/** Colours by SGR number. */
const COLOURS = {
  31: '#f0716b',
  32: '#7cc77c',
  33: '#e3b341',
  34: '#6ca8ee',
  35: '#c58fe0',
  36: '#5fc4c9',
  90: '#7d8590',
};
const DIM = '#8b939e';

/** @param title on the window's frame */
export function paintSvg(rows, columns, title) {
  const width = Math.round(columns * CELL.width + 2 * MARGIN.x);
  const height = rows.length * CELL.height + MARGIN.top + MARGIN.bottom;
  const lines = rows.flatMap((row, index) => row.flatMap((span) => paintSpan(span, index)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    `  role="img" aria-label="The demo's live view in a terminal" font-family="${FONT}" font-size="14">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>`,
    ...['#f0716b', '#e3b341', '#7cc77c'].map(
      (colour, index) => `<circle cx="${18 + index * 18}" cy="18" r="5.5" fill="${colour}"/>`,
    ),
    `<text x="${width / 2}" y="23" fill="${DIM}" text-anchor="middle" font-size="13">${escapeXml(title)}</text>`,
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

function paintSpan({ text, column, style }, row) {
  const trimmed = text.trimEnd();
  const lead = trimmed.length - trimmed.trimStart().length;
  const shown = trimmed.slice(lead);
  const length = [...shown].length;
  if (length === 0) return [];
  const x = (MARGIN.x + (column + lead) * CELL.width).toFixed(1);
  const y = MARGIN.top + row * CELL.height + 13;
  const numbers = style.split(';').map(Number);
  const colour =
    numbers.map((number) => COLOURS[number]).find(Boolean) ?? (numbers.includes(2) ? DIM : FOREGROUND);
  const weight = numbers.includes(1) ? ' font-weight="bold"' : '';
  const fit = `textLength="${(length * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
  return [
    `<text x="${x}" y="${y}" fill="${colour}"${weight} xml:space="preserve" ${fit}>${escapeXml(shown)}</text>`,
  ];
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
