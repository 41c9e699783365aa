/** Longest caption of one sentence (UTF-16 units). A minute of speech has about a thousand. */
const LONGEST = 10_000;

/** Control characters that reorder other text, and invisible characters. Joiners (U+200C, U+200D) belong to words. */
const STEERING =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
const LONE_SURROGATE = /\p{Cs}/gu;
/** Stacks of marks would cover the neighbouring lines; no script needs more than five. */
const TALL_STACK = /(\p{M}{5})\p{M}+/gu;

/**
 * The text of a caption as the screen may show it: one line, without characters that reorder, hide or cover other text.
 * If a text only grows, its plain form only grows, too.
 */
export function plainCaption(text: string): string {
  const whole = text.slice(0, LONGEST).replace(LONE_SURROGATE, '\ufffd');
  return whole.replace(STEERING, '').replace(CONTROL, ' ').replace(TALL_STACK, '$1').trim();
}
