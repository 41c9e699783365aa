import { describeFuzz } from './fuzz.ts';

describeFuzz({ orders: 40, frames: 400, requests: 60, sessions: 150, streams: 40 });
