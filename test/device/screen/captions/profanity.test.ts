import { describe, expect, it } from 'vitest';
import { maskProfanity } from '../../../../src/device/screen/captions/profanity.ts';

describe('the mask of swear words', () => {
  it.each([
    ['de-AT', 'So eine Scheiße, du Wichser!', 'So eine S******, du W******!'],
    [
      'en',
      'What the fuck, this is bullshit. FUCKING cold.',
      'What the f***, this is b*******. F****** cold.',
    ],
    ['en-GB', "He's a wanker.", "He's a w*****."],
    ['es', '¡Joder, qué mierda!', '¡J****, qué m*****!'],
    ['fr', 'Putain, quelle merde.', 'P*****, quelle m****.'],
    ['it', 'Che cazzo vuoi, stronzo?', 'Che c**** vuoi, s******?'],
    ['nl', 'Die hoer, wat een klootzak. Kut!', 'Die h***, wat een k*******. K**!'],
    ['pl', 'Kurwa, pierdolę to.', 'K****, p******* to.'],
    ['pt', 'Caralho, que merda.', 'C******, que m****.'],
    ['ru', 'Сука, какая хуйня, блядь.', 'С***, какая х****, б****.'],
    ['tr', 'Siktir git, orospu.', 'S***** git, o*****.'],
    ['tr', 'SİKTİR git', 'S***** git'],
    ['uk', 'Сука, пиздець.', 'С***, п******.'],
  ])('covers whole words in %s: %s', (language, text, masked) => {
    expect(maskProfanity(text, language)).toBe(masked);
  });

  // Each begins with a word of the list, or with the beginning of one.
  it.each([
    ['nl', 'Hoera! Hoeraatje voor Kutaisi.'],
    ['en', 'A Wankel engine, Shittim wood and Cuntis in Galicia.'],
    ['en', 'The class assesses Scunthorpe.'],
    ['es', 'El padre putativo.'],
    ['fr', 'Une salopette bleue.'],
    ['it', 'Lo stronzio, e un cazzotto.'],
    ['pl', 'Jebel Ali jest w Dubaju.'],
    ['pt', 'O pai putativo.'],
    ['ru', 'Бляха на ремне, бляшка в сосуде, сукачёв.'],
    ['uk', 'Бляха, бляшка, сукати нитку.'],
    ['de', 'Herr Fickert und Frau Arschlochner.'],
  ])('leaves harmless words in %s that begin alike: %s', (language, text) => {
    expect(maskProfanity(text, language)).toBe(text);
  });

  it('covers no word of another language, and none where it knows no words', () => {
    expect(maskProfanity('Die Hoer fuhr los.', 'de')).toBe('Die Hoer fuhr los.');
    expect(maskProfanity('kut shit fuck', 'da')).toBe('kut shit fuck');
  });

  it('judges each word alone, so that shown words stay', () => {
    const words = ['wat', ' een', ' hoer', ' zei', ' hij'];
    const alone = words.map((word) => maskProfanity(word, 'nl')).join('');
    expect(maskProfanity(words.join(''), 'nl')).toBe(alone);
  });
});
