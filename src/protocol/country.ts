/** Codes that ICU knows but that are not countries: groups, pseudo codes, and parts of countries without their own radio rules. */
const NO_COUNTRIES: ReadonlySet<string> = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ'.split(' '));

/**
 * Why two capital letters are not the code of a country (ISO 3166-1), in the form for a message; null when they are. The
 * kernel would silently use the rules for the whole world.
 */
export function countryFault(code: string): string | null {
  const current = new Intl.Locale(`und-${code}`).region;
  if (current !== undefined && current !== code)
    return `must be "${current}": "${code}" is not the code of a country today`;
  const name = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(code);
  return name === undefined || NO_COUNTRIES.has(code)
    ? `must be the code of a country, such as "DE": "${code}" is not one`
    : null;
}
