import { describeCrowd } from './threads.ts';

describeCrowd(10);
