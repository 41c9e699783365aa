/** What `arecord -v` and `aplay -v` list of each layer of a device they have opened: no words about how it went. */
const FIELD =
  /^(?:stream|access|format|subformat|channels|rate|exact rate|msbits|buffer_size|period_(?:size|time|step|event)|tstamp_(?:mode|type)|avail_min|(?:start|stop|silence)_threshold|silence_size|boundary|appl_ptr|hw_ptr)(?: : ?\S|: ?\d)/;
/** Of what lies between the program and the device, and what each of them adds to its name. */
const LAYER =
  /^(?:Its setup is:|Slave:|[A-Z][\w .<>-]* PCM(?:$|: | \(| card | I\/O | Plugin)|Converter:|Protocol version:|Transformation table:|Control:|(?:Min|Max)\. dB:|Resolution:|Binding|Channel bindings|\d+ <- )/;
/** Said of what is about to begin, where nobody asks for silence. */
const BEGINNING = /^(?:Recording|Playing) .* : /;

/** @param line as it is after cleaning: one space for many */
export function isSetupListing(line: string): boolean {
  return FIELD.test(line) || LAYER.test(line) || BEGINNING.test(line);
}
