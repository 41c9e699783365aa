import { expect, it } from 'vitest';
import { explainLoadFailure } from '../../../../src/adapters/audio/addon/load-failure.ts';

it.each([
  ['/usr/bin/node', 20, 'npm install --prefix /usr/lib/dragoman speaker@0.5'],
  [
    '/usr/lib/dragoman-node/bin/node',
    24,
    'PATH=/usr/lib/dragoman-node/bin:$PATH CXXFLAGS=-std=gnu++20 npm install --prefix /usr/lib/dragoman speaker@0.5',
  ],
])('names the Node that runs the program when it is %s', (node, major, line) => {
  const message = explainLoadFailure({ kind: 'absent' }, 'speaker', {
    folder: '/usr/lib/dragoman',
    node,
    major,
  });
  expect(message).toContain(`install it: "${line}"`);
});
