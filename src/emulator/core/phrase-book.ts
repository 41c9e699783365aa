/**
 * Phrases of visitors at the counter of a museum, a clinic and a hotel, in several languages. Each entry holds one phrase
 * with its translations, so a text and its translation always come from the same entry.
 */
/** One phrase, by language. */
export type Phrase = Readonly<Record<string, string>>;
/** Phrases in spoken order; after the last one, the first follows. */
export type PhraseBook = readonly Phrase[];

const row = (en: string, es: string, de: string, fr: string, it: string, ja: string): Phrase => ({
  en,
  es,
  de,
  fr,
  it,
  ja,
});

/** The book that comes with the emulator. */
export const PHRASES: PhraseBook = [
  row(
    'Good morning, I would like two tickets for the exhibition.',
    'Buenos días, quisiera dos entradas para la exposición.',
    'Guten Morgen, ich hätte gern zwei Karten für die Ausstellung.',
    "Bonjour, je voudrais deux billets pour l'exposition.",
    'Buongiorno, vorrei due biglietti per la mostra.',
    'おはようございます。展覧会のチケットを二枚お願いします。',
  ),
  row(
    'Is there a guided tour this afternoon?',
    '¿Hay una visita guiada esta tarde?',
    'Gibt es heute Nachmittag eine Führung?',
    'Y a-t-il une visite guidée cet après-midi ?',
    "C'è una visita guidata questo pomeriggio?",
    '今日の午後、ガイドツアーはありますか。',
  ),
  row(
    'Where can I leave my coat and my bag?',
    '¿Dónde puedo dejar el abrigo y la bolsa?',
    'Wo kann ich meinen Mantel und meine Tasche abgeben?',
    'Où puis-je laisser mon manteau et mon sac ?',
    'Dove posso lasciare il cappotto e la borsa?',
    'コートとかばんはどこに預けられますか。',
  ),
  row(
    'How old is this painting, and who made it?',
    '¿De cuándo es este cuadro y quién lo pintó?',
    'Wie alt ist dieses Gemälde, und wer hat es gemalt?',
    "De quand date ce tableau, et qui l'a peint ?",
    "Di che epoca è questo quadro e chi l'ha dipinto?",
    'この絵はいつのもので、誰が描いたのですか。',
  ),
  row(
    'May I take photographs without a flash?',
    '¿Puedo hacer fotos sin flash?',
    'Darf ich ohne Blitz fotografieren?',
    'Puis-je prendre des photos sans flash ?',
    'Posso fare fotografie senza flash?',
    'フラッシュなしで写真を撮ってもいいですか。',
  ),
  row(
    'My daughter uses a wheelchair. Is there a lift to the second floor?',
    'Mi hija va en silla de ruedas. ¿Hay ascensor al segundo piso?',
    'Meine Tochter sitzt im Rollstuhl. Gibt es einen Aufzug in den zweiten Stock?',
    'Ma fille est en fauteuil roulant. Y a-t-il un ascenseur pour le deuxième étage ?',
    "Mia figlia è in sedia a rotelle. C'è un ascensore per il secondo piano?",
    '娘は車椅子です。二階へのエレベーターはありますか。',
  ),
  row(
    'What time does the museum close today?',
    '¿A qué hora cierra hoy el museo?',
    'Wann schließt das Museum heute?',
    "À quelle heure le musée ferme-t-il aujourd'hui ?",
    'A che ora chiude oggi il museo?',
    '今日、美術館は何時に閉まりますか。',
  ),
  row(
    'Thank you, that was very kind of you.',
    'Gracias, ha sido usted muy amable.',
    'Danke, das war sehr freundlich von Ihnen.',
    "Merci, c'était très aimable à vous.",
    'Grazie, è stato molto gentile.',
    'ありがとうございます。ご親切に。',
  ),
  row(
    'I have an appointment with the doctor at ten.',
    'Tengo cita con la doctora a las diez.',
    'Ich habe um zehn einen Termin bei der Ärztin.',
    "J'ai rendez-vous avec le médecin à dix heures.",
    'Ho un appuntamento con il medico alle dieci.',
    '十時に診察の予約があります。',
  ),
  row(
    'Since yesterday I have had a strong pain in my back.',
    'Desde ayer tengo un dolor fuerte en la espalda.',
    'Seit gestern habe ich starke Rückenschmerzen.',
    "Depuis hier, j'ai très mal au dos.",
    'Da ieri ho un forte dolore alla schiena.',
    '昨日から背中がとても痛いです。',
  ),
  row(
    'I am allergic to penicillin.',
    'Soy alérgico a la penicilina.',
    'Ich bin allergisch gegen Penicillin.',
    'Je suis allergique à la pénicilline.',
    'Sono allergico alla penicillina.',
    'ペニシリンにアレルギーがあります。',
  ),
  row(
    'Do I have to take this medicine before or after the meal?',
    '¿Tengo que tomar este medicamento antes o después de comer?',
    'Muss ich dieses Medikament vor oder nach dem Essen nehmen?',
    'Dois-je prendre ce médicament avant ou après le repas ?',
    'Devo prendere questa medicina prima o dopo i pasti?',
    'この薬は食前に飲みますか、食後に飲みますか。',
  ),
  row(
    'Could you write the name of the medicine down for me?',
    '¿Podría escribirme el nombre del medicamento?',
    'Könnten Sie mir den Namen des Medikaments aufschreiben?',
    "Pourriez-vous m'écrire le nom du médicament ?",
    'Potrebbe scrivermi il nome della medicina?',
    '薬の名前を書いていただけますか。',
  ),
  row(
    'Here is my insurance card.',
    'Aquí tiene mi tarjeta del seguro.',
    'Hier ist meine Versicherungskarte.',
    "Voici ma carte d'assurance.",
    'Ecco la mia tessera sanitaria.',
    '保険証はこちらです。',
  ),
  row(
    'When will the results be ready?',
    '¿Cuándo estarán los resultados?',
    'Wann sind die Ergebnisse da?',
    'Quand les résultats seront-ils prêts ?',
    'Quando saranno pronti i risultati?',
    '結果はいつ出ますか。',
  ),
  row(
    'Please call my husband, he is waiting outside.',
    'Por favor, llame a mi marido, está esperando fuera.',
    'Bitte rufen Sie meinen Mann, er wartet draußen.',
    "Appelez mon mari, s'il vous plaît, il attend dehors.",
    'Per favore chiami mio marito, sta aspettando fuori.',
    '夫を呼んでください。外で待っています。',
  ),
  row(
    'We have booked a double room for three nights.',
    'Hemos reservado una habitación doble para tres noches.',
    'Wir haben ein Doppelzimmer für drei Nächte gebucht.',
    'Nous avons réservé une chambre double pour trois nuits.',
    'Abbiamo prenotato una camera doppia per tre notti.',
    'ダブルルームを三泊予約しています。',
  ),
  row(
    'Is breakfast included in the price?',
    '¿El desayuno está incluido en el precio?',
    'Ist das Frühstück im Preis inbegriffen?',
    'Le petit-déjeuner est-il compris dans le prix ?',
    'La colazione è inclusa nel prezzo?',
    '料金に朝食は含まれていますか。',
  ),
  row(
    'The heating in our room does not work.',
    'La calefacción de nuestra habitación no funciona.',
    'Die Heizung in unserem Zimmer funktioniert nicht.',
    'Le chauffage de notre chambre ne marche pas.',
    'Il riscaldamento della nostra camera non funziona.',
    '部屋の暖房が動きません。',
  ),
  row(
    'Could you wake us at half past six tomorrow?',
    '¿Podría despertarnos mañana a las seis y media?',
    'Könnten Sie uns morgen um halb sieben wecken?',
    'Pourriez-vous nous réveiller demain à six heures et demie ?',
    'Potrebbe svegliarci domani alle sei e mezza?',
    '明日の朝六時半に起こしていただけますか。',
  ),
  row(
    'How do we get to the railway station from here?',
    '¿Cómo se llega a la estación de tren desde aquí?',
    'Wie kommen wir von hier zum Bahnhof?',
    "Comment va-t-on à la gare depuis l'hôtel ?",
    'Come si arriva alla stazione da qui?',
    'ここから駅まではどう行けばいいですか。',
  ),
  row(
    'Can you recommend a restaurant nearby?',
    '¿Puede recomendarnos un restaurante cercano?',
    'Können Sie uns ein Restaurant in der Nähe empfehlen?',
    'Pouvez-vous nous recommander un restaurant près d’ici ?',
    'Può consigliarci un ristorante qui vicino?',
    '近くのレストランを教えていただけますか。',
  ),
  row(
    'I am afraid I have lost my key.',
    'Me temo que he perdido la llave.',
    'Ich habe leider meinen Schlüssel verloren.',
    "Je crains d'avoir perdu ma clé.",
    'Temo di aver perso la chiave.',
    '申し訳ありませんが、鍵をなくしました。',
  ),
  row(
    'We would like to pay by card, please.',
    'Quisiéramos pagar con tarjeta, por favor.',
    'Wir möchten bitte mit Karte zahlen.',
    "Nous voudrions payer par carte, s'il vous plaît.",
    'Vorremmo pagare con la carta, per favore.',
    'カードで支払いたいのですが。',
  ),
];

/** Number of phrases in the book; larger numbers start again at the first phrase. */
export const PHRASE_COUNT = PHRASES.length;

/**
 * A phrase in a language. Regions are ignored (`es-mx` is `es`). A language that is not in the book gets the English
 * text, or else the first, marked with the language's tag so that it does not look like a translation.
 */
export function phrase(number: number, language: string, book = PHRASES): string {
  const entry = book[((number % book.length) + book.length) % book.length];
  if (entry === undefined) return '';
  const primary = language.split('-')[0] ?? language;
  const other = entry['en'] ?? Object.values(entry)[0] ?? '';
  return entry[language] ?? entry[primary] ?? `[${language}] ${other}`;
}

/** Letters in one step of a partial text, in scripts without spaces. */
const LETTERS_PER_STEP = 3;

/** Cache of the steps of each text, because the book's texts are used repeatedly. */
const knownSteps = new Map<string, readonly string[]>();
const MOST_KNOWN = 5000;

/** Cuts a text into the steps by which partial texts grow: words, or a few letters in scripts without spaces. */
export function steps(text: string): readonly string[] {
  const known = knownSteps.get(text);
  if (known !== undefined) return known;
  const cut = cutSteps(text);
  if (knownSteps.size >= MOST_KNOWN) knownSteps.clear();
  knownSteps.set(text, cut);
  return cut;
}

function cutSteps(text: string): string[] {
  if (text.includes(' ')) return text.split(/(?<= )/);
  const letters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < letters.length; at += LETTERS_PER_STEP)
    pieces.push(letters.slice(at, at + LETTERS_PER_STEP).join(''));
  return pieces;
}

function separator(language: string): string {
  return language.startsWith('ja') || language.startsWith('zh') ? '' : ' ';
}

/** Voice (ms) per step at the usual speed of speaking. */
export const MS_PER_STEP = 380;

/** Number of phrases, from `first` on, that a person begins to say in this much voice; at least one. */
export function phrasesSpoken(first: number, language: string, voicedMs: number, book = PHRASES): number {
  let left = Math.floor(voicedMs / MS_PER_STEP);
  for (let said = 1; ; said++) {
    left -= steps(phrase(first + said - 1, language, book)).length;
    if (left <= 0) return said;
  }
}

/** Several phrases in a row. */
export function phraseList(first: number, amount: number, language: string, book = PHRASES): string[] {
  return Array.from({ length: amount }, (_, index) => phrase(first + index, language, book));
}

/** Several phrases in a row, as one text. */
export function phrases(first: number, amount: number, language: string, book = PHRASES): string {
  return joinPhrases(phraseList(first, amount, language, book), language);
}

/** The speech that a text transcribes. */
export interface Spoken {
  readonly language: string;
  readonly voicedMs: number;
  /** Share of the usual speaking time after which a phrase counts as complete, because some people speak faster. */
  readonly wholeShare: number;
}

/**
 * The phrases spoken so far, from `first` on. The last phrase is cut where the speaker stopped, so that a text is never much
 * longer than its sound.
 */
export function saidPhrases(first: number, spoken: Spoken, language: string, book = PHRASES): string[] {
  const amount = phrasesSpoken(first, spoken.language, spoken.voicedMs, book);
  const all = phraseList(first, amount, language, book);
  const stepsIn = (list: readonly string[]): number =>
    list.reduce((sum, text) => sum + steps(text).length, 0);
  const share = spoken.voicedMs / MS_PER_STEP / stepsIn(phraseList(first, amount, spoken.language, book));
  if (share >= spoken.wholeShare) return all;
  let left = Math.max(1, Math.ceil(share * stepsIn(all)));
  return all.flatMap((text) => {
    const understood = steps(text).slice(0, Math.max(0, left));
    left -= understood.length;
    return understood.length === 0 ? [] : [understood.join('').trimEnd()];
  });
}

/** Phrases as one text. */
export function joinPhrases(list: readonly string[], language: string): string {
  return list.join(separator(language));
}

/**
 * The partial text after this much voice: always the whole text so far. An unfinished word appears with its first letters
 * only, so later texts rewrite earlier ones.
 */
export function interimText(first: number, language: string, voicedMs: number, book = PHRASES): string {
  const amount = phrasesSpoken(first, language, voicedMs, book);
  const all = steps(phrases(first, amount, language, book));
  const understood = Math.min(all.length, Math.max(1, Math.ceil(voicedMs / MS_PER_STEP)));
  const whole = all.slice(0, understood);
  const last = whole[understood - 1] ?? '';
  const halfWay = understood < all.length && (voicedMs % MS_PER_STEP) / MS_PER_STEP < 0.5;
  if (halfWay && [...last.trim()].length > 3)
    whole[understood - 1] = last.slice(0, Math.ceil(last.length / 2));
  return whole.join('').replace(/[\s,.?!]+$/, '');
}
