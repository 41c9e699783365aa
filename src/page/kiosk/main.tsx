import './page.css';
import { render } from 'preact';
import { beginBeats } from './beat.ts';
import { Kiosk } from './kiosk.tsx';
import { connect } from './link.ts';

connect();
beginBeats();
const place = document.getElementById('screen');
if (place !== null) render(<Kiosk />, place);
