import { unlinkSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { createKeyPair } from '../../adapters/signing/signing-keys.ts';
import { systemCode, systemReason } from '../../adapters/system-error.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';

const DEFAULT_NAME = 'dragoman-signing';

/** `keys create`: makes the key pair that signs and verifies answers. Never prints the private key. */
export function addKeysVerb(program: Command, shell: Shell): void {
  const keys = program.command('keys').description('make keys that sign answers to devices');
  keys
    .command('create')
    .description('make a pair: NAME.key.pem for signingKeyFile, NAME.pub.pem for the devices')
    .argument('[name]', 'path and name of both files, without their endings', DEFAULT_NAME)
    .option('--json', 'print one line: {"keys": {"kid", "privateKeyFile", "publicKeyFile"}}')
    .addHelpText(...examples('dragoman-backend keys create /etc/dragoman/signing'))
    .action((name: string, options: { json?: true }) => create(shell, name, options.json === true));
}

function create(shell: Shell, name: string, asJson: boolean): void {
  if (basename(name) === '' || /[/\\]$/.test(name))
    throw new Failure(`"${name}" cannot be the name of files: give one such as ${DEFAULT_NAME}`, EXIT.usage);
  const privateFile = resolve(`${name}.key.pem`);
  const publicFile = resolve(`${name}.pub.pem`);
  const { privatePem, publicPem, kid } = createKeyPair();
  writeNew(privateFile, privatePem, 0o600);
  try {
    writeNew(publicFile, publicPem, 0o644);
  } catch (error) {
    // A private key without its public key would block the next attempt.
    unlinkSync(privateFile);
    throw error;
  }
  if (asJson) {
    shell.print(jsonLine({ keys: { kid, privateKeyFile: privateFile, publicKeyFile: publicFile } }));
    return;
  }
  shell.print(
    [
      `thumbprint   ${kid}`,
      `private key  ${privateFile} (for "signingKeyFile" of the backend; keep it there)`,
      `public key   ${publicFile} (for "owner.publicKeyFiles" of each device)`,
      '',
    ].join('\n'),
  );
}

/** @throws Failure if the file exists or cannot be written */
function writeNew(file: string, text: string, mode: number): void {
  try {
    writeFileSync(file, text, { mode, flag: 'wx' });
  } catch (error) {
    if (systemCode(error) === 'EEXIST')
      throw new Failure(`${file} exists already and is not overwritten: give another name`, EXIT.failed);
    throw new Failure(
      `${file} cannot be written (${systemReason(error)}): give another name or make the folder`,
      EXIT.failed,
    );
  }
}
