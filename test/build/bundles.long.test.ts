import { BUNDLES, describePrograms } from './built-programs.ts';

describePrograms(BUNDLES);
