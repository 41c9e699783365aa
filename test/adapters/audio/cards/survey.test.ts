import { afterEach, describe, expect, it } from 'vitest';
import { surveyDevices } from '../../../../src/adapters/audio/cards/survey.ts';
import { answeringTools, NO_TOOLS } from './fake-alsa-tools.ts';
import { layOut, type Machine, processFiles, RASPBERRY_PI, runningStatus } from './machines.ts';

let machine: Machine;
afterEach(() => machine.clear());

describe('a survey of the devices', () => {
  it('opens cards that do not describe themselves, but never a busy one', async () => {
    machine = layOut({
      ...RASPBERRY_PI,
      'proc/asound/card2/pcm0c/sub0/status': runningStatus(900),
      ...processFiles(900, 'sox'),
    });
    const tools = answeringTools();
    const { cards } = await surveyDevices(machine, tools);
    expect(tools.asked.sort()).toEqual([
      'playback hw:CARD=Headphones,DEV=0',
      'playback hw:CARD=seeed2micvoicec,DEV=0',
      'playback hw:CARD=vc4hdmi0,DEV=0',
    ]);
    const board = cards.find(({ id }) => id === 'seeed2micvoicec');
    expect(board?.streams).toMatchObject([
      { direction: 'capture', isBusy: true, silence: 'not queried while busy', ability: { formats: [] } },
      {
        direction: 'playback',
        isBusy: false,
        silence: null,
        ability: { formats: ['S16_LE', 'S24_LE', 'S32_LE'] },
      },
    ]);
    const hdmi = cards.find(({ id }) => id === 'vc4hdmi0');
    expect(hdmi?.streams).toMatchObject([{ address: 'sysdefault:CARD=vc4hdmi0', silence: 'No such device' }]);
  });

  it('merges devices that both record and play', async () => {
    machine = layOut(RASPBERRY_PI);
    const survey = await surveyDevices(
      machine,
      answeringTools({ capture: ['pulse', 'booth'], playback: ['pulse', 'hall'] }),
    );
    expect(survey.software.map(({ name, directions }) => [name, directions])).toEqual([
      ['pulse', ['capture', 'playback']],
      ['booth', ['capture']],
      ['hall', ['playback']],
    ]);
    expect(survey).toMatchObject({ hasKernelSound: true, hasAlsaTools: true, twins: [] });
  });

  it('works without the programs of ALSA', async () => {
    machine = layOut(RASPBERRY_PI);
    const survey = await surveyDevices(machine, NO_TOOLS);
    expect(survey.hasAlsaTools).toBe(false);
    expect(survey.cards).toHaveLength(4);
    expect(survey.software).toEqual([]);
  });
});
