import './page.css';
import { render } from 'preact';
import { Kiosk } from './kiosk.tsx';
import { connect } from './link.ts';

connect();
const place = document.getElementById('screen');
if (place !== null) render(<Kiosk />, place);
