/**
 * Makes docs/console.png and docs/console-device.png: signs in at the demo's console, and takes pictures of its three kiosks and
 * of the one in trouble. Usage: npm run picture:console
 */
import { LONGEST_MS, pictureAt, withDemo } from './picture/demo-browser.mjs';

const FLEET = { width: 1280, height: 340, deviceScaleFactor: 1 };
const DEVICE = { width: 1280, height: 760, deviceScaleFactor: 1 };
const THREE_KIOSKS = `['degraded', 'idle', 'ready'].every((status) =>
  document.querySelector('.scroller .status.' + status) !== null)`;

await withDemo(async (page, { console: { url, name, password } }) => {
  await page.setViewport(FLEET);
  await page.goto(url);
  await page.waitForSelector('#password');
  await page.type('#name', name);
  await page.type('#password', password);
  await page.keyboard.press('Enter');
  await page.waitForFunction(THREE_KIOSKS, { timeout: LONGEST_MS });
  await page.screenshot({ path: pictureAt('console.png') });
  await page.setViewport(DEVICE);
  await page.goto(`${url}/device/demo/kiosk-03`);
  await page.waitForSelector('.reason');
  await page.screenshot({ path: pictureAt('console-device.png') });
});
