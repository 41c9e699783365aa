import { GLASS_FAULTS, testGlass } from './cage-faults.ts';

testGlass([GLASS_FAULTS.frozen, GLASS_FAULTS.frozenBrowser, GLASS_FAULTS.endedCage]);
