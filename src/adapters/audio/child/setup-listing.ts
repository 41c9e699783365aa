/** Lines in which `arecord -v` and `aplay -v` describe each layer of an opened device; they report no error. */
const FIELD =
  /^(?:stream|access|format|subformat|channels|rate|exact rate|msbits|buffer_size|period_(?:size|time|step|event)|tstamp_(?:mode|type)|avail_min|(?:start|stop|silence)_threshold|silence_size|boundary|appl_ptr|hw_ptr)(?: : ?\S|: ?\d)/;
/** Headings of the layers between the program and the device. */
const LAYER =
  /^(?:Its setup is:|Slave:|[A-Z][\w .<>-]* PCM(?:$|: | \(| card | I\/O | Plugin)|Converter:|Protocol version:|Transformation table:|Control:|(?:Min|Max)\. dB:|Resolution:|Binding|Channel bindings|\d+ <- )/;
/** Announcement of a recording or playback, printed without `-q`. */
const BEGINNING = /^(?:Recording|Playing) .* : /;

/** @param line after cleaning: runs of spaces are one space */
export function isSetupListing(line: string): boolean {
  return FIELD.test(line) || LAYER.test(line) || BEGINNING.test(line);
}
