import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSoundAccess } from '../../../../../src/device/doctor/checks/permissions/sound-access.ts';
import { createMachines } from '../../machine-folders.ts';

const { root, machine, remove } = createMachines();
afterAll(remove);

describe('the access to sound cards', () => {
  it('names the user, the group and the cards', () => {
    const { proc, sys } = machine({
      'proc/asound/cards': ' 0 [Mic            ]: USB-Audio - USB Mic\n                      Maker\n',
    });
    const group = (process.getgroups?.() ?? [0])[0] ?? 0;
    writeFileSync(join(root, 'group'), `root:x:0:\naudio:x:${group}:pulse\n`);
    const access = readSoundAccess({ proc, sys, dev: join(root, 'dev') }, join(root, 'group'));
    expect(access).toMatchObject({ hasSound: true, isInAudio: true, cards: [{ id: 'Mic', index: 0 }] });
    expect(access.user).not.toBe('');
    writeFileSync(join(root, 'group'), 'audio:x:54321:\n');
    const other = readSoundAccess({ proc: root, sys, dev: root }, join(root, 'group'));
    expect(other).toMatchObject({ hasSound: false, isInAudio: false, cards: [] });
  });
});
