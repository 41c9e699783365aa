import { GLASS_FAULTS, testGlass } from './cage-faults.ts';

testGlass([GLASS_FAULTS.killed, GLASS_FAULTS.starved]);
