/** Topics on which a hostile device, kiosk-02, publishes and subscribes. */
export const BASE = 'dragoman/v1/museum';
export const VICTIM = `${BASE}/kiosk-01`;
export const OWN = `${BASE}/kiosk-02`;

export const PUBLISHED: readonly (readonly [topic: string, what: string])[] = [
  [`${VICTIM}/token/res`, 'answers for the backend'],
  [`${OWN}/token/res`, 'answers itself'],
  [`${VICTIM}/cmd/mute`, 'commands another'],
  [`${VICTIM}/cmd/certificate`, 'brings a certificate to another'],
  [`${OWN}/cmd/certificate`, 'brings a certificate to itself'],
  [`${VICTIM}/cert/req`, 'asks for a certificate in the name of another'],
  [`${OWN}/cmd/mute`, 'leaves a command to itself'],
  [`${BASE}/all/cmd/mute`, 'commands all'],
  [`${BASE}/group/lobby/cmd/mute`, 'commands its group'],
  [`${VICTIM}/config/desired`, 'configures another'],
  [`${OWN}/config/desired`, 'configures itself'],
  [`${BASE}/group/lobby/config/desired`, 'configures its group'],
  [`${VICTIM}/status`, 'publishes the status of another'],
  [`${VICTIM}/cmd/status/res`, 'answers for another'],
  ['dragoman/v1/backend/backend/token/res', 'confirms a test request of the backend'],
];
export const SUBSCRIBED: readonly (readonly [filter: string])[] = [
  ['#'],
  ['+/#'],
  ['dragoman/#'],
  [`${BASE}/+/token/res`],
  [`${VICTIM}/#`],
  [`${VICTIM}/config/desired`],
  [`${BASE}/+/cert/req`],
  [`${BASE}/group/hall/config/desired`],
  ['dragoman/v1/+/+/token/req'],
  ['$share/x/#'],
  [`$share/x/${BASE}/+/token/res`],
  ['$share/dragoman-backend/dragoman/v1/+/+/token/req'],
  ['$SYS/#'],
  ['$CONTROL/#'],
];
