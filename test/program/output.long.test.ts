import { describeFullDisk } from './full-disk.ts';

describeFullDisk([
  ['dragoman', 'version'],
  ['dragoman', 'check-config --config config.json --json'],
  ['dragoman', 'ctl help'],
  ['dragoman', '--help'],
  ['backend', '--version'],
  ['emulator', '--version'],
]);
