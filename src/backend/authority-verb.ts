import { join } from 'node:path';
import type { Command } from 'commander';
import { examples, type Shell } from '../program/program.ts';
import { addAuthority, retireAuthority, useAuthority } from './broker/authorities.ts';
import { howToApply } from './broker/explanation.ts';
import { readSetup } from './broker/store.ts';

const FOLDER = ['<folder>', 'the set-up that "broker init" has made'] as const;

/** `broker authority`: another authority takes over, while nothing stands still. */
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
    .description('make a second authority: both are good from then on')
    .argument(...FOLDER)
    .addHelpText(...examples('dragoman-backend broker authority add museum'))
    .action((folder: string) => {
      const name = addAuthority(folder);
      say(
        folder,
        `${name} is made; the first authority still issues.`,
        `Keep ${join(folder, 'authority', `${name}.key`)} off the broker's machine.`,
        `Bring ${join(folder, 'broker', 'ca.crt')} to the backend, every person and every device, as their broker-ca.crt.`,
        `When all have it: dragoman-backend broker authority use ${folder}`,
      );
    });
  authority
    .command('use')
    .description('let the other authority issue: the certificate of the broker, and those of devices')
    .argument(...FOLDER)
    .addHelpText(...examples('dragoman-backend broker authority use museum'))
    .action((folder: string) => {
      const name = useAuthority(folder);
      const isByCertificate = readSetup(folder).deviceLogin === 'certificate';
      say(
        folder,
        `${name} issues from now on, and the broker has a certificate of it.`,
        'Whoever has not got the new broker-ca.crt does not connect any more; called again, this goes back.',
        ...(isByCertificate
          ? [
              `Then: dragoman-backend devices renew --now --broker ${folder}, until every device has one of the new.`,
            ]
          : []),
        `At last: dragoman-backend broker authority retire ${folder}`,
      );
    });
  authority
    .command('retire')
    .description('end the change: what the other authority has issued is no longer valid')
    .argument(...FOLDER)
    .option('--regardless', 'also where devices are shut out by it')
    .addHelpText(...examples('dragoman-backend broker authority retire museum'))
    .action((folder: string, options: { regardless?: true }) => {
      const name = retireAuthority(folder, options.regardless === true);
      say(
        folder,
        `${name} is no longer valid.`,
        `Destroy ${join(folder, 'authority', `${name}.key`)}, and its copies.`,
        `Bring ${join(folder, 'broker', 'ca.crt')} to everybody, as their broker-ca.crt.`,
      );
    });
}
