/** What the page says, in the languages of the people in front of the kiosk. */
export interface Wording {
  readonly listening: string;
  readonly speaking: string;
  readonly translating: string;
  readonly muted: string;
  readonly offline: string;
  /** The microphone or the loudspeaker does not work. */
  readonly broken: string;
  readonly wait: string;
  readonly microphone: string;
  readonly loudspeaker: string;
  readonly closed: string;
  /** `{t}` is the time. */
  readonly until: string;
  readonly begin: string;
  /** For a button that has to be held. */
  readonly hold: string;
  readonly language: string;
  readonly type: string;
  readonly send: string;
  readonly cancel: string;
  readonly louder: string;
  readonly end: string;
  readonly failed: string;
}

const KEYS: readonly (keyof Wording)[] = [
  'listening',
  'speaking',
  'translating',
  'muted',
  'offline',
  'broken',
  'wait',
  'microphone',
  'loudspeaker',
  'closed',
  'until',
  'begin',
  'hold',
  'language',
  'type',
  'send',
  'cancel',
  'louder',
  'end',
  'failed',
];

/** Texts by language, in the order of `KEYS`, separated by bars. */
const TEXTS: Readonly<Record<string, string>> = {
  en: 'Listening|Speaking|Translating|Muted|No connection|Out of order|Please wait, or ask the staff.|The microphone is off. Please ask the staff.|There is no sound. Please read, or ask the staff.|Closed|Closed until {t}|Please speak|Hold the button and speak|Language|Type|Speak it|Cancel|Louder|End|That did not work.',
  es: 'Escuchando|Hablando|Traduciendo|Silenciado|Sin conexión|No funciona|Espere, por favor, o avise al personal.|El micrófono no funciona. Avise al personal.|No hay sonido. Lea aquí o avise al personal.|Cerrado|Cerrado hasta {t}|Hable, por favor|Mantenga pulsado el botón y hable|Idioma|Escribir|Decirlo|Cancelar|Más alto|Terminar|No ha funcionado.',
  de: 'Ich höre zu|Ich spreche|Ich übersetze|Stumm|Keine Verbindung|Gestört|Bitte warten Sie oder fragen Sie das Personal.|Das Mikrofon geht nicht. Bitte fragen Sie das Personal.|Kein Ton. Bitte lesen Sie hier oder fragen Sie das Personal.|Geschlossen|Geschlossen bis {t}|Bitte sprechen|Taste halten und sprechen|Sprache|Tippen|Sprechen|Abbrechen|Lauter|Beenden|Das ging nicht.',
  fr: "J'écoute|Je parle|Je traduis|Micro coupé|Pas de connexion|En panne|Veuillez patienter ou demander au personnel.|Le micro ne marche pas. Demandez au personnel.|Pas de son. Lisez ici ou demandez au personnel.|Fermé|Fermé jusqu'à {t}|Parlez, s'il vous plaît|Maintenez la touche et parlez|Langue|Écrire|Dire|Annuler|Plus fort|Terminer|Cela n'a pas marché.",
  it: 'In ascolto|Parlo|Traduco|Microfono spento|Nessuna connessione|Guasto|Attenda o chieda al personale.|Il microfono non funziona. Chieda al personale.|Manca il suono. Legga qui o chieda al personale.|Chiuso|Chiuso fino a {t}|Parli, prego|Tenga premuto il tasto e parli|Lingua|Scrivere|Dirlo|Annulla|Più forte|Fine|Non ha funzionato.',
  pt: 'A ouvir|A falar|A traduzir|Sem microfone|Sem ligação|Avariado|Aguarde ou pergunte ao pessoal.|O microfone não funciona. Pergunte ao pessoal.|Não há som. Leia aqui ou pergunte ao pessoal.|Fechado|Fechado até {t}|Fale, por favor|Mantenha a tecla premida e fale|Língua|Escrever|Dizer|Cancelar|Mais alto|Terminar|Não funcionou.',
  nl: 'Ik luister|Ik spreek|Ik vertaal|Gedempt|Geen verbinding|Storing|Wacht even of vraag het personeel.|De microfoon werkt niet. Vraag het personeel.|Geen geluid. Lees hier of vraag het personeel.|Gesloten|Gesloten tot {t}|Spreek maar|Houd de knop ingedrukt en spreek|Taal|Typen|Uitspreken|Annuleren|Harder|Stoppen|Dat lukte niet.',
  pl: 'Słucham|Mówię|Tłumaczę|Wyciszono|Brak połączenia|Awaria|Proszę czekać lub zapytać obsługę.|Mikrofon nie działa. Proszę zapytać obsługę.|Brak dźwięku. Proszę czytać lub zapytać obsługę.|Zamknięte|Zamknięte do {t}|Proszę mówić|Przytrzymaj przycisk i mów|Język|Pisz|Powiedz|Anuluj|Głośniej|Koniec|Nie udało się.',
  ru: 'Слушаю|Говорю|Перевожу|Звук выключен|Нет связи|Не работает|Подождите или обратитесь к персоналу.|Микрофон не работает. Обратитесь к персоналу.|Нет звука. Читайте здесь или обратитесь к персоналу.|Закрыто|Закрыто до {t}|Говорите|Удерживайте кнопку и говорите|Язык|Написать|Сказать|Отмена|Громче|Конец|Не получилось.',
  uk: 'Слухаю|Говорю|Перекладаю|Звук вимкнено|Немає звʼязку|Не працює|Зачекайте або зверніться до персоналу.|Мікрофон не працює. Зверніться до персоналу.|Немає звуку. Читайте тут або зверніться до персоналу.|Зачинено|Зачинено до {t}|Говоріть|Утримуйте кнопку й говоріть|Мова|Написати|Сказати|Скасувати|Гучніше|Кінець|Не вдалося.',
  tr: 'Dinliyorum|Konuşuyorum|Çeviriyorum|Sessiz|Bağlantı yok|Arızalı|Lütfen bekleyin veya görevliye sorun.|Mikrofon çalışmıyor. Görevliye sorun.|Ses yok. Buradan okuyun veya görevliye sorun.|Kapalı|{t} saatine kadar kapalı|Lütfen konuşun|Düğmeyi basılı tutup konuşun|Dil|Yaz|Söyle|İptal|Daha yüksek|Bitir|Olmadı.',
  ar: 'أستمع|أتكلم|أترجم|الصوت مكتوم|لا يوجد اتصال|معطّل|انتظر من فضلك أو اسأل الموظفين.|الميكروفون لا يعمل. اسأل الموظفين.|لا يوجد صوت. اقرأ هنا أو اسأل الموظفين.|مغلق|مغلق حتى {t}|تكلم من فضلك|اضغط الزر باستمرار وتكلم|اللغة|كتابة|انطق|إلغاء|أعلى|إنهاء|لم ينجح ذلك.',
  he: 'מקשיב|מדבר|מתרגם|מושתק|אין חיבור|תקלה|נא להמתין או לפנות לצוות.|המיקרופון אינו פועל. נא לפנות לצוות.|אין קול. נא לקרוא כאן או לפנות לצוות.|סגור|סגור עד {t}|נא לדבר|נא ללחוץ על הכפתור ולדבר|שפה|הקלדה|השמעה|ביטול|חזק יותר|סיום|זה לא הצליח.',
  zh: '正在聆听|正在说话|正在翻译|已静音|没有连接|故障|请稍候，或询问工作人员。|麦克风无法使用，请询问工作人员。|没有声音，请看屏幕或询问工作人员。|已关闭|关闭至 {t}|请说话|按住按钮说话|语言|打字|说出来|取消|大声一点|结束|没有成功。',
  ja: '聞いています|話しています|翻訳しています|消音中|接続がありません|故障中|お待ちいただくか、係員にお尋ねください。|マイクが使えません。係員にお尋ねください。|音が出ません。画面を読むか、係員にお尋ねください。|終了しました|{t}まで終了|お話しください|ボタンを押したままお話しください|言語|入力|話す|取消|大きく|終わる|できませんでした。',
  ko: '듣고 있습니다|말하고 있습니다|번역하고 있습니다|음소거|연결 없음|고장|기다리시거나 직원에게 문의하세요.|마이크가 작동하지 않습니다. 직원에게 문의하세요.|소리가 나지 않습니다. 화면을 읽거나 직원에게 문의하세요.|닫힘|{t}까지 닫힘|말씀하세요|버튼을 누른 채 말씀하세요|언어|입력|말하기|취소|더 크게|끝내기|되지 않았습니다.',
  th: 'กำลังฟัง|กำลังพูด|กำลังแปล|ปิดเสียง|ไม่มีการเชื่อมต่อ|ขัดข้อง|โปรดรอ หรือสอบถามเจ้าหน้าที่|ไมโครโฟนใช้ไม่ได้ โปรดสอบถามเจ้าหน้าที่|ไม่มีเสียง โปรดอ่านที่นี่หรือสอบถามเจ้าหน้าที่|ปิด|ปิดถึง {t}|โปรดพูด|กดปุ่มค้างไว้แล้วพูด|ภาษา|พิมพ์|พูด|ยกเลิก|ดังขึ้น|จบ|ไม่สำเร็จ',
  vi: 'Đang nghe|Đang nói|Đang dịch|Tắt tiếng|Không có kết nối|Bị hỏng|Vui lòng chờ hoặc hỏi nhân viên.|Micro không hoạt động. Vui lòng hỏi nhân viên.|Không có âm thanh. Vui lòng đọc ở đây hoặc hỏi nhân viên.|Đóng cửa|Đóng cửa đến {t}|Xin mời nói|Nhấn giữ nút và nói|Ngôn ngữ|Gõ chữ|Nói|Hủy|To hơn|Kết thúc|Không được.',
  hi: 'सुन रहा है|बोल रहा है|अनुवाद हो रहा है|आवाज़ बंद|कनेक्शन नहीं है|ख़राब|कृपया रुकें, या कर्मचारी से पूछें।|माइक्रोफ़ोन काम नहीं कर रहा। कर्मचारी से पूछें।|आवाज़ नहीं है। यहाँ पढ़ें, या कर्मचारी से पूछें।|बंद|{t} तक बंद|कृपया बोलें|बटन दबाए रखें और बोलें|भाषा|लिखें|बोलें|रद्द करें|और तेज़|समाप्त|यह नहीं हुआ।',
};

export const WORDED_LANGUAGES = Object.keys(TEXTS);

/** The language itself, if the page has its words, else English. */
export function wordedLanguage(language: string): string {
  const [primary = ''] = language.toLowerCase().split('-');
  return primary in TEXTS ? primary : 'en';
}

export function wordingOf(language: string): Wording {
  const parts = (TEXTS[wordedLanguage(language)] ?? '').split('|');
  return Object.fromEntries(KEYS.map((key, index) => [key, parts[index] ?? ''])) as unknown as Wording;
}
