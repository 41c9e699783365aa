import type { Setup } from './setup.ts';
import { OWNER_KEY } from './store.ts';

const COPY = 'copy the files of the folder "broker" over';
const RESTART = 'restart mosquitto (systemctl restart mosquitto)';

/** The steps that make mosquitto read a change. */
export function howToApply({ form, revoked }: Pick<Setup, 'form' | 'revoked'>): string {
  if (form === 'dynsec') return `${COPY} and ${RESTART}: the plugin reads its file at the start only`;
  return revoked === null
    ? `${COPY} and let mosquitto read it again (systemctl reload mosquitto)`
    : `${COPY} and ${RESTART}: it reads the list of revoked certificates at the start only`;
}

/** The text of README.txt in the set-up. */
export function explainSetup(setup: Setup): string {
  const { installedAt, host, devicePort, peoplePort } = setup;
  return `A broker's set-up, written by "dragoman-backend broker init".

authority/   The authority that signed the broker's certificate${setup.deviceLogin === 'certificate' ? " and signs the devices'" : ''}.
             Keep ca.key off the broker's machine, best on a medium in a drawer:
             anyone who has it can pass for the broker${setup.deviceLogin === 'certificate' ? ' and for every device' : ''}.
broker/      For the broker's machine, as ${installedAt}:
                 chown -R mosquitto: ${installedAt}
                 mosquitto -c ${installedAt}/mosquitto.conf
             With Debian's mosquitto unit, let mosquitto.conf in /etc/mosquitto be a copy.
             It holds no password, but hashes of them and the key of ${host}.
logins/      One folder for the backend, each person and each device: bring it to them, then delete it here.
${OWNER_KEY}
             The owner's public key, for "owner.publicKeyFiles" of each device;
             "devices template" puts it on the cards. The backend and administrators sign with its private key.
setup.json   The source of all files in broker/. Keep a copy.

Devices connect to ${host}:${devicePort}, the backend and people to ${host}:${peoplePort}.
A new device: dragoman-backend devices add NAME --broker THIS-FOLDER, then ${howToApply(setup)}.
`;
}
