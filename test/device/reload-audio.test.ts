import { describe, expect, it } from 'vitest';
import { mergeRunning, restartKeys } from '../../src/device/config/reload.ts';
import { configSchema } from '../../src/protocol/config.ts';

const configuration = (lane: object = {}, rest: object = {}) =>
  configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtts://broker.example' },
    lanes: [{ source: 'en', targets: ['es'], ...lane }],
    ...rest,
  });

describe('a configuration that is read again', () => {
  const running = configuration();

  it.each([
    ['another hook', configuration({}, { audio: { unfixable: { command: ['reboot'] } } }), ['audio']],
    ['a screen', configuration({}, { screen: { enabled: true } }), ['screen']],
    ['another text about who runs it', configuration({}, { screen: { operator: 'Museum' } }), []],
    ['another offer of languages', configuration({ offer: ['es', 'fr'] }), []],
    ['other devices', configuration({ capture: { driver: 'command', command: ['rec'] } }), []],
    ['another lead of the rollover', configuration({ rolloverLead: 60 }), []],
    ['another log format', configuration({}, { log: { journal: 'json' } }), ['log.journal']],
    ['another log level', configuration({}, { log: { level: 'debug' } }), []],
    ['other phrases', configuration({}, { phrases: { list: [{ en: 'Yes.' }] } }), []],
    ['another volume', configuration({ playback: { volume: 50 } }), []],
  ])('knows whether %s needs a restart', (_what, next, keys) => {
    expect(restartKeys(running, next)).toEqual(keys);
  });

  it('has its phrases at once', () => {
    const next = configuration({}, { phrases: { folder: '/phrases', list: [{ en: 'Yes.' }] } });
    expect(mergeRunning(running, next).phrases).toEqual(next.phrases);
    expect(mergeRunning(next, running).phrases).toBeNull();
  });

  it('keeps the running values that lanes change one by one', () => {
    const next = configuration({ rolloverLead: 60, capture: { driver: 'command', command: ['rec'] } });
    expect(mergeRunning(running, next).lanes[0]).toMatchObject({
      rolloverLead: 22,
      capture: { driver: 'alsa' },
    });
  });
});
