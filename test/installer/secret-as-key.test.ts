/** A secret in the place of a key: the report gives its position and never quotes it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, createSystem, type System, WIFI } from './system-folder.ts';

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

/** All output that people could read. */
function reported(document: unknown): string {
  system.write('dragoman.json', typeof document === 'string' ? document : JSON.stringify(document, null, 1));
  const { result } = system.run();
  expect(result.outcome).toBe('file_invalid');
  return [
    JSON.stringify(result),
    system.read('dragoman-status.txt'),
    system.text('run/dragoman/provisioning.json'),
  ].join();
}

describe.each(['s3cret-w0rd', 'mqtt-passw0rd', 'Mqtt-Password', 'correct horse', 'passphrase7', 'ssid!'])(
  'the secret %s',
  (secret) => {
    it.each([
      [
        'secrets',
        { format: 1, secrets: { [secret]: 'mqtt-password' } },
        'secrets: holds an unknown key (line 4, column 3)',
      ],
      [
        'wifi',
        { format: 1, wifi: { ssid: 'Museum', [secret]: 'passphrase' } },
        'wifi: holds an unknown key (line 5, column 3)',
      ],
      [
        'the file',
        { format: 1, [secret]: 'mqtt-password' },
        'dragoman.json holds an unknown key (line 3, column 2)',
      ],
      [
        'the configuration',
        { format: 1, config: { ...CONFIG, mqtt: { ...CONFIG.mqtt, [`${secret}`]: 1 } } },
        'config.mqtt: holds a key that is not a known key',
      ],
    ])('is not shown as a key of %s', (_, document, where) => {
      // In the configuration, a word close to a known key is shown as such.
      if (_ === 'the configuration' && /passphrase|password/i.test(secret)) return;
      const text = reported(document);
      expect(text).not.toContain(secret);
      expect(text).toContain(where);
    });

    it('is not shown when written twice, without quotes or as another value', () => {
      for (const document of [
        `{"format":1,"secrets":{"${secret}":1,"${secret}":2}}`,
        `{"format":1,"secrets":{${secret}:"mqtt-password"}}`,
        `{"format":1,"secrets":{"mqtt-password":${secret}}}`,
        `{"format":1,"secrets":{'mqtt-password':'${secret}'}}`,
        `{"format":1,"secrets":{"mqtt-password" "${secret}"}}`,
        `{"format":1,"secrets":{"mqtt-password":"${secret}`,
        `{"format":1,"secrets":"${secret}"}`,
        `{"format":1,"secrets":["${secret}"]}`,
        `{"format":1,"secrets":{"mqtt-password":{"${secret}":1}}}`,
        `{"format":1,"wifi":["Museum","${secret}"]}`,
        `{"format":"${secret}"}`,
        `"${secret}"`,
        secret,
      ])
        expect([document, reported(document).includes(secret)]).toEqual([document, false]);
    });
  },
);

describe('a misspelt key', () => {
  it.each([
    [{ wifi: { ...WIFI, pasphrase: 'x' } }, 'wifi.pasphrase: is not a known key'],
    [{ wiffi: WIFI }, 'wiffi: is not a known key'],
    [
      { config: { ...CONFIG, mqtt: { ...CONFIG.mqtt, usrname: 'x' } } },
      'config.mqtt.usrname: is not a known key',
    ],
  ])('is still shown: %j', (part, text) => {
    expect(reported({ format: 1, ...part })).toContain(text);
  });
});

describe('a secret that is repeated in another field', () => {
  const secret = 's3cret.w0rd=x"y\\z';
  const secrets = { 'mqtt-password': secret };
  it.each([
    ['device.id', { ...CONFIG, device: { id: secret, tenant: 'museum' } }],
    ['mqtt.url', { ...CONFIG, mqtt: { ...CONFIG.mqtt, url: secret } }],
    ['lanes[0].source', { ...CONFIG, lanes: [{ source: secret, targets: ['es'] }] }],
    ['log.level', { ...CONFIG, log: { level: `${secret} ${secret}` } }],
  ])('is not quoted from %s', (field, config) => {
    const text = reported({ format: 1, config, secrets });
    expect(text).toContain(`config.${field}: `);
    for (const one of [secret, JSON.stringify(secret).slice(1, -1), 's3cret'])
      expect(text).not.toContain(one);
  });
});
