import { runProgram, type Terminal } from '../program/program.ts';
import { addBackupVerbs } from './verbs/backup-verb.ts';
import { addBillVerb } from './verbs/bill-verb.ts';
import { addBrokerVerb } from './verbs/broker-verb.ts';
import { addDevicesVerb } from './verbs/device-logins-verb.ts';
import { addDoctorVerb } from './verbs/doctor-verb.ts';
import { addKeysVerb } from './verbs/keys-verb.ts';
import { type AskSecretly, addPeopleVerb } from './verbs/people-verb.ts';
import { addPhrasesVerb } from './verbs/phrases-verb.ts';
import { addRolloutVerb } from './verbs/rollout-verb.ts';
import { addRunVerb, type RunHost } from './verbs/run-verb.ts';
import { addSessionsVerb } from './verbs/sessions-verb.ts';
import { addVoiceVerb } from './verbs/voice-verb.ts';

export const NAME = 'dragoman-backend';

/**
 * Runs one command line. Never rejects; resolves with the exit code once the verb has ended.
 * @param argv the arguments after the program's name
 */
export function runBackendProgram(
  argv: readonly string[],
  given: Terminal & RunHost & { ask?: AskSecretly },
): Promise<number> {
  const { output, signals, ask = () => Promise.resolve(null), ...terminal } = given;
  return runProgram({
    name: NAME,
    summary:
      "The owner's side of Dragoman: issues session tokens to devices, serves the owner's console, ends sessions, clones voices, makes the sounds of phrases, makes keys, sets up a broker.",
    verbs: [
      { register: (program, shell) => addRunVerb(program, shell, { output, signals }) },
      { register: addBillVerb },
      { register: (program, shell) => addPeopleVerb(program, shell, ask) },
      { register: addRolloutVerb },
      { register: addBackupVerbs },
      { register: addDoctorVerb },
      { register: addSessionsVerb },
      { register: addVoiceVerb },
      { register: addPhrasesVerb },
      { register: addKeysVerb },
      { register: addBrokerVerb },
      { register: (program, shell) => addDevicesVerb(program, shell, signals) },
    ],
    argv,
    ...terminal,
  });
}
