import { setPriority } from 'node:os';

const { TESTS_GIVE_WAY, TESTS_PRIORITY } = process.env;
if (TESTS_GIVE_WAY !== undefined) setPriority(Number(TESTS_PRIORITY));
