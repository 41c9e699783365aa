import { primaryOf } from '../../lane/replay/language-tags.ts';
import { segmentsOf } from './words.ts';

/**
 * Words that are masked, with their forms, in lower case. Only whole words count: masking a harmless word such as
 * "hoera" is worse than showing a curse.
 */
const WORDS: Readonly<Record<string, string>> = {
  de: `arschloch arschlöcher arschlochs fick ficke fickst fickt ficken fickend fickende ficker gefickt fotze fotzen hurensohn
    hurensöhne hurensohns scheiß scheiss scheiße scheisse scheißen scheissen scheißt scheisst scheißkerl wichser wichsern
    wichsers wichsen wichst`,
  en: `asshole assholes arsehole arseholes bullshit bullshitting cunt cunts fuck fucks fucked fucker fuckers fuckin fucking
    motherfucker motherfuckers motherfucking nigger niggers shit shits shitty shitting bullshitter wank wanks wanked wanker
    wankers wanking`,
  es: `cabron cabrón cabrona cabronas cabrones gilipollas gilipollez hijoputa hijoputas joder jodido jodida jodidos jodidas
    jodete jódete mierda mierdas pendejo pendeja pendejos pendejas pendejada pendejadas puta putas puto putos`,
  fr: `connard connards connasse connasses enculé enculée enculés enculées enculer merde merdes merdique putain putains salope
    salopes`,
  it: `cazzo cazzi cazzata cazzate coglione coglioni coglionata merda merde merdoso puttana puttane stronza stronze stronzi stronzo
    stronzata stronzate vaffanculo`,
  nl: `godverdomme godverdommes hoer hoeren klootzak klootzakken kut kutten kutwijf`,
  pl: `chuj chuja chujem chuje chujowy jebać jebany jebana jebane jebani jebanego kurwa kurwy kurwę kurwo kurew kurwą pierdol
    pierdolę pierdolić pierdolony pierdolona pierdolone skurwysyn skurwysyna skurwysyny`,
  pt: `caralho caralhos foda fodas foder fodido fodida fodidos fodidas merda merdas porra porras puta putas`,
  ru: `блядь бляди блядей блядский бля ебан ебаный ебаная ебаное ебаные ебаного ебать ебёт пизда пизды пизде пизду пиздец сука
    суки суке суку хуй хуя хую хуем хуё хуёвый хуёво хуйня хуйни хуйню`,
  tr: `amına amınakoyayım orospu orospular orospunun siktir siktiğimin siktirin`,
  uk: `блядь бляді бля їбан їбаний їбана їбане їбані їбати пизда пизди пизду пиздець сука суки суці суку хуй хуя хую хуєм хуйня`,
};

const SETS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(WORDS).map(([language, words]) => [language, new Set(words.split(/\s+/))]),
);

/** Replaces all but the first letter of profane words with asterisks. Each word is judged alone, so words already shown do not change. */
export function maskProfanity(text: string, language: string): string {
  const primary = primaryOf(language);
  const words = SETS.get(primary);
  if (words === undefined) return text;
  return segmentsOf(text, language)
    .map(({ text: word }) => (words.has(word.toLocaleLowerCase(primary)) ? mask(word) : word))
    .join('');
}

function mask(word: string): string {
  const [first = '', ...rest] = word;
  return first + '*'.repeat(rest.length);
}
