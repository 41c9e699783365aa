import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();

describe('dragoman ctl', () => {
  it('shows the registered devices that never came', async () => {
    const devices = ['kiosk-01', 'kiosk-02', 'kiosk-03'].map((device) => ({
      tenant: 'museum',
      device,
      groups: [],
    }));
    const more = [
      { ...devices[0], tenant: 'other', device: 'elsewhere' },
      { ...devices[0], device: 'retired', disabled: true },
    ];
    writeFileSync(join(ctl.home, 'setup.json'), JSON.stringify({ devices: [...devices, ...more] }));
    const profile = { url: ctl.brokerUrl, tenant: 'museum', setupFile: join(ctl.home, 'setup.json') };
    ctl.writeProfiles({ profiles: { museum: profile } });
    await ctl.device('kiosk-02', { answer: () => ({ status: 'ok', data: {} }) });
    const ran = await ctl.run('--all', 'status');
    expect(ran).toMatchObject({ exitCode: 0, complained: '' });
    const words = ran.printed
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 5).join(' '));
    expect(words.slice(1)).toEqual([
      'kiosk-01 never is registered but',
      'kiosk-03 never is registered but',
      expect.stringMatching(/^kiosk-02 ready/),
    ]);
    const json = await ctl.run('--all', '--json', 'status');
    expect(json.printed).toContain(
      '{"device":"kiosk-03","status":"never","message":"is registered but has never connected"}',
    );
    expect((await ctl.run('kiosk-03', 'mute')).printed).toBe(
      'kiosk-03: is registered but has never connected\n',
    );
    // Other commands go to devices that have been there.
    expect(await ctl.run('--all', 'mute')).toMatchObject({ exitCode: 0 });
  });

  it('works without the set-up of the profile, and says so', async () => {
    await ctl.device('kiosk-02');
    const setupFile = join(ctl.home, 'elsewhere.json');
    ctl.writeProfiles({ profiles: { museum: { url: ctl.brokerUrl, tenant: 'museum', setupFile } } });
    const ran = await ctl.run('kiosk-02', 'mute');
    expect(ran).toMatchObject({ exitCode: 0, printed: expect.stringContaining('kiosk-02: ok') });
    expect(ran.complained).toContain(`warning: setupFile: ${setupFile} cannot be read: `);
    writeFileSync(setupFile, '{}');
    const wrong = await ctl.run('kiosk-02', 'mute');
    expect(wrong).toMatchObject({ exitCode: 2, printed: '' });
    expect(wrong.complained).toContain('is not the setup.json of "dragoman-backend broker init"');
  });

  it('warns of a language that is not known, and sends it', async () => {
    const device = await ctl.device('kiosk-01');
    const ran = await ctl.run('kiosk-01', 'languages', '--targets', 'xx,pt-br');
    expect(ran).toMatchObject({
      exitCode: 0,
      complained: 'warning: "xx" is not a known language: the service may refuse it\n',
    });
    expect(device.received[0]?.body.args).toEqual({ targets: ['xx', 'pt-br'] });
  });
});
