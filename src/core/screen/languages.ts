const RIGHT_TO_LEFT = /^(ar|he|iw|fa|ur|ps|sd|ug|yi|dv|ckb)\b/i;

export function directionOf(language: string): 'rtl' | 'ltr' {
  return RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr';
}

/** The name of a language in itself: "español". */
export function ownName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  const [first = '', ...rest] = name;
  return first.toLocaleUpperCase(language) + rest.join('');
}
