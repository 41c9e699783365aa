/** Explains an HTTP status in answer to the request for the broker's WebSocket. */

const REDIRECT = 'redirects are not followed, so change the address';
const PAGE = 'a web page is at this address: check its path and its port';
const PROXY_FAULT = 'the proxy before the broker has a fault: look at its log';

const ADVICE: Readonly<Record<number, string>> = {
  301: REDIRECT,
  302: REDIRECT,
  303: REDIRECT,
  307: REDIRECT,
  308: REDIRECT,
  400: 'the server takes no WebSockets here: check the path and the port of the address, and whether the proxy before the broker passes the header "Upgrade" on',
  401: 'the proxy before the broker wants a login of its own, which the agent does not have: let requests to this address through without a login',
  403: 'the proxy before the broker does not allow this machine or this address: allow it there',
  404: 'check the path of the address',
  405: 'check the path of the address',
  407: 'the proxy on the way wants a login: let the connections to the broker through without it',
  426: 'the server wants another protocol at this address: check the path, and whether the proxy before the broker passes the header "Upgrade" on',
  429: 'the proxy before the broker gets too many connections: raise its limit, or wait',
  502: 'the proxy does not reach the broker: start the broker, or correct the address of the broker at the proxy',
  503: 'the proxy finds no running broker: start the broker, or correct its address at the proxy',
  504: 'the broker does not answer the proxy: look at the load of the broker',
};

const IN_PLACE = ' in place of a WebSocket: ';

/** @param words status and name, such as "HTTP 404 (Not Found)" */
export function explainHttpAnswer(broker: string, status: number, words: string): string {
  const usual = status >= 500 ? PROXY_FAULT : status < 300 ? PAGE : 'check the address';
  return `${broker} answered with ${words}${IN_PLACE}${ADVICE[status] ?? usual}`;
}

/** Finding and fix in a message of `explainHttpAnswer`; null: it is another message. */
export function splitHttpAnswer(message: string): { readonly finding: string; readonly fix: string } | null {
  const [finding, advice] = message.split(IN_PLACE);
  if (finding === undefined || advice === undefined) return null;
  return {
    finding: finding + IN_PLACE.slice(0, -2),
    fix: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`,
  };
}
