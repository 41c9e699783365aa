import { describe, expect, it } from 'vitest';
import { PLACES, publicFile } from '../../src/installer/core/places.ts';
import { callsFor } from '../../src/installer/take-effect.ts';

const calls = (country: string | undefined, ...places: string[]): string[] =>
  callsFor(
    places.map((place) => publicFile(place, '')),
    country,
  ).map((words) => words.join(' '));

describe('the commands that apply new files at once', () => {
  it('are run only for the programs concerned', () => {
    expect(calls(undefined)).toEqual([]);
    expect(calls('DE', PLACES.managerWifi, PLACES.managerState)).toEqual([
      'iw reg set DE',
      'nmcli connection reload',
      'nmcli radio wifi on',
    ]);
    expect(calls(undefined, PLACES.supplicant, PLACES.networkdWifi)).toEqual([
      'networkctl reload',
      'systemctl --no-block restart wpa_supplicant@wlan0.service',
    ]);
    for (const place of [PLACES.password, PLACES.config, '/etc/dragoman/owner-2.pub.pem'])
      expect(calls(undefined, place)).toEqual(['systemctl --no-block try-restart dragoman.service']);
    expect(calls(undefined, PLACES.localTime, PLACES.sshKeys)).toEqual([]);
  });
});
