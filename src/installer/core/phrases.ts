/**
 * Phrases that a kiosk without a screen speaks. The sounds (scripts/build-phrases), the status file beside the settings and
 * the table in docs/provisioning.md are made from them.
 */

/** Languages of the phrases; a kiosk with other languages speaks English. */
export const PHRASE_LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt'] as const;
export type PhraseLanguage = (typeof PHRASE_LANGUAGES)[number];

export interface Phrase {
  /** Selects the chime before the phrase. */
  readonly news: 'good' | 'bad';
  /** Fix, in more detail than the spoken words; for the documentation and the status file. */
  readonly advice: string;
  readonly words: Readonly<Record<PhraseLanguage, string>>;
}

export const PHRASES = {
  applied: {
    news: 'good',
    advice: 'Nothing; the kiosk announces within some minutes whether it works.',
    words: {
      en: 'The settings on the card have been read.',
      de: 'Die Einstellungen auf der Karte wurden gelesen.',
      fr: 'Les réglages de la carte ont été lus.',
      es: 'Se han leído los ajustes de la tarjeta.',
      it: 'Le impostazioni sulla scheda sono state lette.',
      pt: 'As definições do cartão foram lidas.',
    },
  },
  ready: {
    news: 'good',
    advice: 'Nothing; speak to it.',
    words: {
      en: 'The kiosk is ready.',
      de: 'Der Kiosk ist bereit.',
      fr: 'La borne est prête.',
      es: 'El quiosco está listo.',
      it: 'Il chiosco è pronto.',
      pt: 'O quiosque está pronto.',
    },
  },
  no_file: {
    news: 'bad',
    advice: 'Write `dragoman.json` to the boot partition of the card, with any computer.',
    words: {
      en: 'There is no file with settings on the card. Please write the file dragoman.json.',
      de: 'Auf der Karte ist keine Datei mit Einstellungen. Bitte schreiben Sie die Datei dragoman.json.',
      fr: "Il n'y a pas de fichier de réglages sur la carte. Veuillez écrire le fichier dragoman.json.",
      es: 'No hay ningún archivo de ajustes en la tarjeta. Escriba el archivo dragoman.json.',
      it: "Sulla scheda non c'è un file di impostazioni. Scrivere il file dragoman.json.",
      pt: 'Não há ficheiro de definições no cartão. Escreva o ficheiro dragoman.json.',
    },
  },
  file_unreadable: {
    news: 'bad',
    advice: 'Write `dragoman.json` again; if that does not help, check or replace the card.',
    words: {
      en: 'The file dragoman.json on the card cannot be read. Please write it again.',
      de: 'Die Datei dragoman.json auf der Karte ist nicht lesbar. Bitte schreiben Sie sie neu.',
      fr: "Le fichier dragoman.json de la carte est illisible. Veuillez l'écrire de nouveau.",
      es: 'El archivo dragoman.json de la tarjeta no se puede leer. Escríbalo de nuevo.',
      it: 'Il file dragoman.json sulla scheda non si può leggere. Scriverlo di nuovo.',
      pt: 'O ficheiro dragoman.json do cartão não se consegue ler. Escreva-o de novo.',
    },
  },
  file_invalid: {
    news: 'bad',
    advice:
      'Correct the mistake that `dragoman-status.txt` names; until then the previous settings stay in force.',
    words: {
      en: 'The file dragoman.json has a mistake. The file dragoman-status.txt on the card says which.',
      de: 'Die Datei dragoman.json hat einen Fehler. Die Datei dragoman-status.txt auf der Karte nennt ihn.',
      fr: 'Le fichier dragoman.json contient une erreur. Le fichier dragoman-status.txt de la carte dit laquelle.',
      es: 'El archivo dragoman.json tiene un error. El archivo dragoman-status.txt de la tarjeta dice cuál.',
      it: 'Il file dragoman.json contiene un errore. Il file dragoman-status.txt sulla scheda dice quale.',
      pt: 'O ficheiro dragoman.json tem um erro. O ficheiro dragoman-status.txt do cartão diz qual.',
    },
  },
  key_unreadable: {
    news: 'bad',
    advice: '`dragoman-status.txt` names the key or certificate: create the file for this device again.',
    words: {
      en: 'A key or certificate in the file dragoman.json cannot be read. Please put in the right one.',
      de: 'Ein Schlüssel oder Zertifikat in der Datei dragoman.json ist nicht lesbar. Bitte tragen Sie das richtige ein.',
      fr: 'Une clé ou un certificat du fichier dragoman.json est illisible. Veuillez y mettre le bon.',
      es: 'Una clave o un certificado del archivo dragoman.json no se puede leer. Ponga el correcto.',
      it: 'Una chiave o un certificato nel file dragoman.json non si può leggere. Inserire quello giusto.',
      pt: 'Uma chave ou um certificado no ficheiro dragoman.json não se consegue ler. Ponha o correto.',
    },
  },
  secrets_missing: {
    news: 'bad',
    advice:
      'Write the secrets that `dragoman-status.txt` names in place of `null`: the card has lost them, or belongs to another kiosk.',
    words: {
      en: 'Passwords are missing on the card. Please write them into the file dragoman.json again.',
      de: 'Auf der Karte fehlen Passwörter. Bitte tragen Sie sie wieder in die Datei dragoman.json ein.',
      fr: 'Des mots de passe manquent sur la carte. Veuillez les écrire de nouveau dans le fichier dragoman.json.',
      es: 'Faltan contraseñas en la tarjeta. Escríbalas de nuevo en el archivo dragoman.json.',
      it: 'Sulla scheda mancano delle password. Scriverle di nuovo nel file dragoman.json.',
      pt: 'Faltam palavras-passe no cartão. Escreva-as de novo no ficheiro dragoman.json.',
    },
  },
  wifi_unsupported: {
    news: 'bad',
    advice:
      'Use a network with a WPA2 password, or a cable; `dragoman-status.txt` says what is not supported.',
    words: {
      en: 'This kind of Wi-Fi is not supported. Please use a network with a password.',
      de: 'Diese Art von WLAN wird nicht unterstützt. Bitte nehmen Sie ein Netz mit Passwort.',
      fr: "Ce type de Wi-Fi n'est pas pris en charge. Veuillez utiliser un réseau avec mot de passe.",
      es: 'Este tipo de wifi no es compatible. Use una red con contraseña.',
      it: 'Questo tipo di Wi-Fi non è supportato. Usare una rete con password.',
      pt: 'Este tipo de Wi-Fi não é suportado. Use uma rede com palavra-passe.',
    },
  },
  disk_full: {
    news: 'bad',
    advice: 'Use a larger card, or flash this one again: there is no space left on it.',
    words: {
      en: 'The card is full. Please use a larger one, or write the card again.',
      de: 'Die Karte ist voll. Bitte nehmen Sie eine größere, oder beschreiben Sie sie neu.',
      fr: "La carte est pleine. Veuillez en prendre une plus grande, ou l'écrire de nouveau.",
      es: 'La tarjeta está llena. Use una más grande, o grábela de nuevo.',
      it: 'La scheda è piena. Usarne una più grande, o scriverla di nuovo.',
      pt: 'O cartão está cheio. Use um maior, ou grave-o de novo.',
    },
  },
  write_failed: {
    news: 'bad',
    advice:
      'The card may be failing: use another one; `dragoman-status.txt` names the file that could not be written.',
    words: {
      en: 'The settings could not be saved. Please use another card.',
      de: 'Die Einstellungen konnten nicht gespeichert werden. Bitte nehmen Sie eine andere Karte.',
      fr: "Les réglages n'ont pas pu être enregistrés. Veuillez prendre une autre carte.",
      es: 'No se han podido guardar los ajustes. Use otra tarjeta.',
      it: "Non è stato possibile salvare le impostazioni. Usare un'altra scheda.",
      pt: 'Não foi possível guardar as definições. Use outro cartão.',
    },
  },
  no_network: {
    news: 'bad',
    advice: 'Plug the cable in, or check `wifi` in `dragoman.json`: no interface has a link.',
    words: {
      en: 'There is no network. Please check the network cable or the Wi-Fi.',
      de: 'Es gibt kein Netz. Bitte prüfen Sie das Netzwerkkabel oder das WLAN.',
      fr: "Il n'y a pas de réseau. Veuillez vérifier le câble réseau ou le Wi-Fi.",
      es: 'No hay red. Compruebe el cable de red o la wifi.',
      it: "Non c'è rete. Controllare il cavo di rete o il Wi-Fi.",
      pt: 'Não há rede. Verifique o cabo de rede ou o Wi-Fi.',
    },
  },
  wifi_password_wrong: {
    news: 'bad',
    advice: 'Correct `wifi.passphrase` in `dragoman.json` on the card.',
    words: {
      en: 'The Wi-Fi password is wrong. Please correct the file dragoman.json on the card.',
      de: 'Das WLAN-Passwort ist falsch. Bitte berichtigen Sie die Datei dragoman.json auf der Karte.',
      fr: 'Le mot de passe du Wi-Fi est faux. Veuillez corriger le fichier dragoman.json sur la carte.',
      es: 'La contraseña de la wifi es incorrecta. Corrija el archivo dragoman.json de la tarjeta.',
      it: 'La password del Wi-Fi è sbagliata. Correggere il file dragoman.json sulla scheda.',
      pt: 'A palavra-passe do Wi-Fi está errada. Corrija o ficheiro dragoman.json no cartão.',
    },
  },
  wifi_not_found: {
    news: 'bad',
    advice:
      'Check `wifi.ssid` (capitals count), `hidden` and `country`, and whether the access point is in range.',
    words: {
      en: 'The Wi-Fi network is not found. Please check its name in the file dragoman.json.',
      de: 'Das WLAN wird nicht gefunden. Bitte prüfen Sie seinen Namen in der Datei dragoman.json.',
      fr: 'Le réseau Wi-Fi est introuvable. Veuillez vérifier son nom dans le fichier dragoman.json.',
      es: 'No se encuentra la red wifi. Compruebe su nombre en el archivo dragoman.json.',
      it: 'La rete Wi-Fi non si trova. Controllare il suo nome nel file dragoman.json.',
      pt: 'A rede Wi-Fi não foi encontrada. Verifique o nome no ficheiro dragoman.json.',
    },
  },
  no_address: {
    news: 'bad',
    advice: "The link is up, but no address is assigned: check the router's DHCP, or set `address`.",
    words: {
      en: 'The network gives no address. Please check the router.',
      de: 'Das Netz vergibt keine Adresse. Bitte prüfen Sie den Router.',
      fr: "Le réseau ne donne pas d'adresse. Veuillez vérifier le routeur.",
      es: 'La red no da ninguna dirección. Compruebe el router.',
      it: 'La rete non dà un indirizzo. Controllare il router.',
      pt: 'A rede não dá endereço. Verifique o router.',
    },
  },
  clock_wrong: {
    news: 'bad',
    advice: 'Give the kiosk access to a time server (UDP port 123) or a host of `service.hosts` by HTTPS.',
    words: {
      en: 'The clock is wrong. Please let the kiosk reach a time server.',
      de: 'Die Uhr geht falsch. Bitte geben Sie dem Kiosk Zugang zu einem Zeitserver.',
      fr: "L'horloge est fausse. Veuillez laisser la borne joindre un serveur de temps.",
      es: 'El reloj no está en hora. Permita que el quiosco llegue a un servidor de hora.',
      it: "L'orologio è sbagliato. Permettere al chiosco di raggiungere un server dell'ora.",
      pt: 'O relógio está errado. Deixe o quiosque chegar a um servidor de hora.',
    },
  },
  broker_unreachable: {
    news: 'bad',
    advice:
      'Check `mqtt.url`, name server, firewall, and whether the broker runs; `dragoman doctor --only broker`.',
    words: {
      en: 'The broker cannot be reached. Please check its address and the network.',
      de: 'Der Broker ist nicht erreichbar. Bitte prüfen Sie seine Adresse und das Netz.',
      fr: 'Le broker est injoignable. Veuillez vérifier son adresse et le réseau.',
      es: 'No se puede llegar al broker. Compruebe su dirección y la red.',
      it: 'Il broker non è raggiungibile. Controllare il suo indirizzo e la rete.',
      pt: 'Não se consegue chegar ao broker. Verifique o endereço e a rede.',
    },
  },
  broker_refused: {
    news: 'bad',
    advice:
      "Check user name, password or certificate against those at the broker, and the broker's rules for this device.",
    words: {
      en: 'The broker refuses this kiosk. Please check its name and password.',
      de: 'Der Broker weist diesen Kiosk ab. Bitte prüfen Sie Namen und Passwort.',
      fr: 'Le broker refuse cette borne. Veuillez vérifier son nom et son mot de passe.',
      es: 'El broker rechaza este quiosco. Compruebe su nombre y contraseña.',
      it: 'Il broker rifiuta questo chiosco. Controllare nome e password.',
      pt: 'O broker recusa este quiosque. Verifique o nome e a palavra-passe.',
    },
  },
  backend_silent: {
    news: 'bad',
    advice: 'Check that the backend runs, is subscribed, and issues tokens to this device.',
    words: {
      en: 'The backend gives no answer. Please check whether it runs.',
      de: 'Das Backend antwortet nicht. Bitte prüfen Sie, ob es läuft.',
      fr: "Le backend ne répond pas. Veuillez vérifier qu'il fonctionne.",
      es: 'El backend no responde. Compruebe que funciona.',
      it: 'Il backend non risponde. Controllare che funzioni.',
      pt: 'O backend não responde. Verifique se funciona.',
    },
  },
  no_microphone: {
    news: 'bad',
    advice: 'Plug it in, or name another in `capture.device`; `dragoman devices` lists the available ones.',
    words: {
      en: 'There is no microphone. Please plug it in.',
      de: 'Es gibt kein Mikrofon. Bitte stecken Sie es an.',
      fr: "Il n'y a pas de microphone. Veuillez le brancher.",
      es: 'No hay micrófono. Conéctelo.',
      it: "Non c'è un microfono. Collegarlo.",
      pt: 'Não há microfone. Ligue-o.',
    },
  },
  no_loudspeaker: {
    news: 'bad',
    advice: 'Plug it in, or name another in `playback.device`; the phrase is spoken on any other card.',
    words: {
      en: 'The loudspeaker does not work. Please plug it in.',
      de: 'Der Lautsprecher geht nicht. Bitte stecken Sie ihn an.',
      fr: 'Le haut-parleur ne fonctionne pas. Veuillez le brancher.',
      es: 'El altavoz no funciona. Conéctelo.',
      it: "L'altoparlante non funziona. Collegarlo.",
      pt: 'O altifalante não funciona. Ligue-o.',
    },
  },
  service_down: {
    news: 'bad',
    advice: '`dragoman-status.txt` has the reason: the agent does not run, or the service gives no session.',
    words: {
      en: 'The translation does not start. Please look at the file dragoman-status.txt on the card.',
      de: 'Die Übersetzung startet nicht. Bitte lesen Sie die Datei dragoman-status.txt auf der Karte.',
      fr: 'La traduction ne démarre pas. Veuillez lire le fichier dragoman-status.txt sur la carte.',
      es: 'La traducción no arranca. Lea el archivo dragoman-status.txt de la tarjeta.',
      it: 'La traduzione non parte. Leggere il file dragoman-status.txt sulla scheda.',
      pt: 'A tradução não arranca. Leia o ficheiro dragoman-status.txt no cartão.',
    },
  },
} as const satisfies Readonly<Record<string, Phrase>>;

/** Codes of the phrases; each has a sound per language, `LANGUAGE/CODE.wav`. */
export type PhraseCode = keyof typeof PHRASES;
export const PHRASE_CODES = Object.keys(PHRASES) as PhraseCode[];

/**
 * Picks the kiosk's language from its lanes: first the languages of the people who speak to it, then those that it speaks.
 * Regions are ignored.
 */
export function phraseLanguage(
  lanes: readonly { readonly source: string; readonly targets: readonly string[] }[],
): PhraseLanguage {
  for (const tag of lanes.flatMap(({ source, targets }) => [source, ...targets])) {
    const found = PHRASE_LANGUAGES.find((language) => language === tag.toLowerCase().split('-')[0]);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** How file names are spoken; a synthesizer would spell their extensions. */
const READ_OUT: readonly (readonly [RegExp, Readonly<Record<PhraseLanguage, string>>])[] = [
  [/dragoman\.json/g, same('dragoman')],
  [
    /dragoman-status\.txt/g,
    {
      en: 'dragoman status',
      de: 'dragoman Status',
      fr: 'dragoman statut',
      es: 'dragoman estatus',
      it: 'dragoman status',
      pt: 'dragoman status',
    },
  ],
];

/** The words as given to the synthesizer. */
export function spokenWords(code: PhraseCode, language: PhraseLanguage): string {
  return READ_OUT.reduce<string>(
    (text, [name, read]) => text.replace(name, read[language]),
    PHRASES[code].words[language],
  );
}

function same(word: string): Readonly<Record<PhraseLanguage, string>> {
  return { en: word, de: word, fr: word, es: word, it: word, pt: word };
}
