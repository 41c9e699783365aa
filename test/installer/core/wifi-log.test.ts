import { expect, it } from 'vitest';
import { wifiTrouble } from '../../../src/installer/core/wifi-log.ts';

const WRONG =
  'wlan0: CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="museum" auth_failures=1 duration=10 reason=WRONG_KEY';
const FAILED = 'wlan0: WPA: 4-Way Handshake failed - pre-shared key may be incorrect';
const CONNECTED = 'wlan0: CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]';
const MISSING = 'wlan0: CTRL-EVENT-NETWORK-NOT-FOUND ';

it.each([
  [[], null],
  [['Successfully initialized wpa_supplicant'], null],
  [[WRONG], 'password_wrong'],
  [[FAILED, 'wlan0: something else'], 'password_wrong'],
  [[MISSING], 'not_found'],
  [[MISSING, WRONG], 'password_wrong'],
  [[WRONG, CONNECTED], null],
  [[CONNECTED, MISSING], 'not_found'],
  // Network names that imitate messages.
  [["wlan0: Trying to associate with 02:00 (SSID='x reason=WRONG_KEY' freq=2412 MHz)"], null],
  [['wlan0: CTRL-EVENT-SSID-REENABLED id=0 ssid="x \\" reason=WRONG_KEY"'], null],
])("the supplicant's log %j gives %s", (lines, trouble) => {
  expect(wifiTrouble(lines)).toBe(trouble);
});
