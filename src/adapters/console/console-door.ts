/** Protection against requests that other pages make a browser send (CSRF). */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Why a request is refused; null: it may pass. A request that changes something must show that it comes from the console's own page.
 * @param origin `https://name:port` at which the browser knows the console
 */
export function objectionToForeign(
  method: string,
  headers: IncomingHttpHeaders,
  origin: string,
): string | null {
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === 'same-origin' || site === 'none';
  if (site !== undefined && !isOwnSite) return 'requests of other pages ("Sec-Fetch-Site") are refused';
  const from = headers.origin;
  if (from !== undefined && from.toLowerCase() !== origin)
    return 'requests of other pages ("Origin") are refused; behind a proxy, see trustedProxies in docs/console.md';
  if (method === 'GET' || method === 'HEAD') return null;
  if (from === undefined && site !== 'same-origin')
    return 'a request that changes something must have the header "Origin" or "Sec-Fetch-Site"';
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' ? null : 'the header "Content-Type" must be "application/json"';
}
