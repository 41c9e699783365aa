/** The parts of a terminal that the live view needs: cursor up, down and home, clearing, the alternate screen, colours. */

const SEQUENCE = new RegExp(`${String.fromCharCode(27)}\\[([?\\d;]*)([A-Za-z])`, 'g');

export class Terminal {
  #columns;
  #lines = [[]];
  #row = 0;
  #column = 0;
  #style = '';

  constructor(columns) {
    this.#columns = columns;
  }

  write(text) {
    let at = 0;
    for (const sequence of text.matchAll(SEQUENCE)) {
      this.#print(text.slice(at, sequence.index));
      this.#obey(sequence[1], sequence[2]);
      at = sequence.index + sequence[0].length;
    }
    this.#print(text.slice(at));
  }

  /** The shown text and the text that has scrolled off. */
  text() {
    return this.#lines.map((cells) => cells.map((cell) => cell?.sign ?? ' ').join('')).join('\n');
  }

  /** Each row as spans of one style: `{ text, column, style }`; a style is its SGR numbers, such as "1;32". */
  rows() {
    return this.#lines.map((cells) => {
      const spans = [];
      for (const [column, cell] of cells.entries()) {
        const { sign = ' ', style = '' } = cell ?? {};
        const last = spans.at(-1);
        if (last?.style === style) last.text += sign;
        else spans.push({ text: sign, column, style });
      }
      return spans.filter(({ text }) => text.trim() !== '');
    });
  }

  #print(text) {
    for (const sign of text) {
      if (sign === '\r') this.#column = 0;
      else if (sign === '\n') this.#goTo(this.#row + 1);
      else if (this.#column < this.#columns) {
        this.#lines[this.#row][this.#column] = { sign, style: this.#style };
        this.#column += 1;
      }
    }
  }

  #goTo(row) {
    this.#row = Math.max(0, row);
    while (this.#lines.length <= this.#row) this.#lines.push([]);
  }

  #home() {
    this.#goTo(0);
    this.#column = 0;
  }

  /** Switches to the empty alternate screen, which hides the other one. */
  #clear() {
    this.#lines = [[]];
    this.#home();
  }

  #obey(parameters, command) {
    const count = Number(parameters || 1);
    if (command === 'A') this.#goTo(this.#row - count);
    else if (command === 'B') this.#goTo(this.#row + count);
    else if (command === 'H') this.#home();
    else if (parameters === '?1049') this.#clear();
    else if (command === 'K') this.#lines[this.#row].length = this.#column;
    else if (command === 'J') {
      this.#lines.length = this.#row + 1;
      this.#lines[this.#row].length = this.#column;
    } else if (command === 'm') this.#style = restyled(this.#style, parameters);
  }
}

/** The style after one more SGR sequence. */
function restyled(style, parameters) {
  const numbers = new Set(style === '' ? [] : style.split(';').map(Number));
  for (const number of (parameters || '0').split(';').map(Number)) {
    if (number === 0) numbers.clear();
    else if (number === 22) for (const weight of [1, 2]) numbers.delete(weight);
    else if (number === 39) for (const colour of numbers) if (colour >= 30) numbers.delete(colour);
    if (![0, 22, 39].includes(number)) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b).join(';');
}
