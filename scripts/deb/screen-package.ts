import { gzip } from './file-tree.ts';
import { type Package, papers, type Source, unitFiles } from './packages.ts';

const NAME = 'dragoman-screen';

/** The unit that shows the kiosk's page, and what it needs. The program itself is in the agent's package. */
export function screenPackage(source: Source): Package {
  const { root, version, changedAt } = source;
  return {
    name: NAME,
    version,
    changedAt,
    architecture: 'all',
    // The cage of Debian 12 does not start without Xwayland, but its package does not depend on Xwayland.
    depends: `dragoman (>= ${version}), cage, chromium, libpam-systemd, xwayland`,
    recommends: 'fonts-noto-core, fonts-noto-cjk',
    summary: 'screen of an interpreting kiosk',
    description: [
      "Shows the page of Dragoman's agent, with captions in two languages and large",
      'buttons, on the screen of the device. It starts the browser again when the',
      'page is no longer painted.',
    ],
    files: [
      ...unitFiles(root, NAME),
      { path: `usr/share/man/man8/${NAME}.8.gz`, content: gzip(manPage(version, changedAt)) },
      ...papers(source, NAME, []),
    ],
  };
}

function manPage(version: string, changedAt: number): string {
  const date = new Date(changedAt * 1000).toISOString().slice(0, 10);
  return `.TH DRAGOMAN\\-SCREEN 8 "${date}" "Dragoman ${version}" "System Administration"
.SH NAME
dragoman\\-screen \\- shows the page of an interpreting kiosk
.SH SYNOPSIS
.B systemctl status dragoman\\-screen
.SH DESCRIPTION
The service runs
.B dragoman screen
on the console tty7.
It waits until the agent serves its page, which needs
.B screen.enabled
in /etc/dragoman/config.json, and starts chromium in the compositor cage.
.PP
When the page has not been painted for 20 seconds, the service starts again.
It never restarts the agent.
.PP
The profile of the browser is in /run/dragoman\\-screen, in memory.
.SH SEE ALSO
.BR dragoman (1)
`;
}
