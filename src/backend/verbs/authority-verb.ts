import { join } from 'node:path';
import type { Command } from 'commander';
import { examples, type Shell } from '../../program/program.ts';
import { addAuthority, retireAuthority, useAuthority } from '../broker/authorities.ts';
import { howToApply } from '../broker/explanation.ts';
import { readSetup } from '../broker/store.ts';

const FOLDER = ['<folder>', 'the set-up that "broker init" has made'] as const;

/** `broker authority`: replaces the authority of a set-up without downtime. */
export function addAuthorityVerb(broker: Command, shell: Shell): void {
  const authority = broker
    .command('authority')
    .description('change the authority of a set-up: add a second one, use it, retire the first');
  const say = (folder: string, what: string, ...next: readonly string[]): void => {
    const apply = `On the broker's machine: ${howToApply({ ...readSetup(folder), form: 'dynsec' }).split(':')[0]}.`;
    shell.print(`${[what, ...next.slice(0, 1), apply, ...next.slice(1)].join('\n')}\n`);
  };
  authority
    .command('add')
    .description('make a second authority; both are valid from then on')
    .argument(...FOLDER)
    .addHelpText(...examples('dragoman-backend broker authority add museum'))
    .action((folder: string) => {
      const name = addAuthority(folder);
      say(
        folder,
        `${name} is made; the first authority still issues.`,
        `Keep ${join(folder, 'authority', `${name}.key`)} off the broker's machine.`,
        `Copy ${join(folder, 'broker', 'ca.crt')} to the backend, every person and every device, as their broker-ca.crt.`,
        `When all have it: dragoman-backend broker authority use ${folder}`,
      );
    });
  authority
    .command('use')
    .description('let the other authority issue the certificates of the broker and of devices')
    .argument(...FOLDER)
    .addHelpText(...examples('dragoman-backend broker authority use museum'))
    .action((folder: string) => {
      const name = useAuthority(folder);
      const isByCertificate = readSetup(folder).deviceLogin === 'certificate';
      say(
        folder,
        `${name} issues from now on, and the broker has a certificate from the new authority.`,
        'A client without the new broker-ca.crt can no longer connect. To go back, run the same command again.',
        ...(isByCertificate
          ? [
              `Then: dragoman-backend devices renew --now --broker ${folder}, until every device has a certificate of the new authority.`,
            ]
          : []),
        `Finally: dragoman-backend broker authority retire ${folder}`,
      );
    });
  authority
    .command('retire')
    .description('end the change: certificates of the other authority are no longer valid')
    .argument(...FOLDER)
    .option('--regardless', 'retire it even if devices can then no longer log in')
    .addHelpText(...examples('dragoman-backend broker authority retire museum'))
    .action((folder: string, options: { regardless?: true }) => {
      const name = retireAuthority(folder, options.regardless === true);
      say(
        folder,
        `${name} is no longer valid.`,
        `Destroy ${join(folder, 'authority', `${name}.key`)}, and its copies.`,
        `Copy ${join(folder, 'broker', 'ca.crt')} to the backend, every person and every device, as their broker-ca.crt.`,
      );
    });
}
