import { neutralise } from './display-text.ts';
import type { DemoModel, DemoView, Exchange } from './model.ts';

/** Shows the demo as lines of text: notices, phases, and each sentence when it is final. */
export function createPlainView(print: (text: string) => void): DemoView {
  let phase = 'idle';
  let lastNotice = -1;
  const said = new Set<string>();
  const line = (atMs: number, who: string, text: string): void =>
    print(`${(atMs / 1000).toFixed(1).padStart(6)} s  ${neutralise(who).padEnd(7)}  ${neutralise(text)}\n`);
  const sayOnce = (key: string, atMs: number, who: string, text: string): void => {
    if (said.has(key)) return;
    said.add(key);
    line(atMs, who, text);
  };
  const printExchange = (exchange: Exchange, atMs: number): void => {
    if (!exchange.isFinal) return;
    sayOnce(`${exchange.seq}`, atMs, `said ${exchange.sourceLanguage}`, exchange.source);
    for (const { language, text, isFinal } of exchange.translations) {
      // A further part changes the text, so the whole text is printed again.
      if (isFinal) sayOnce(`${exchange.seq}/${language}/${text}`, atMs, `to ${language}`, text);
    }
  };

  return {
    update(model: DemoModel) {
      for (const { seq, atMs, text } of model.notices) {
        if (seq > lastNotice) line(atMs, 'agent', text);
      }
      lastNotice = model.notices.at(-1)?.seq ?? lastNotice;
      if (model.phase !== phase) {
        phase = model.phase;
        line(model.elapsedMs, 'phase', phase);
      }
      for (const exchange of model.exchanges) printExchange(exchange, model.elapsedMs);
    },
    showPages: (lines) => print(`${lines.join('\n')}\n\n`),
    close() {},
  };
}
