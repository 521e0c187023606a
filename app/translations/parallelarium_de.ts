<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en_US">
<context>
    <name>QObject</name>
    <message>
        <source>assumed rates: not calibrated yet</source>
        <translation>angenommene Raten: noch nicht kalibriert</translation>
    </message>
    <message>
        <source>calibrated today</source>
        <translation>heute kalibriert</translation>
    </message>
    <message>
        <source>calibrated %1</source>
        <translation>kalibriert %1</translation>
    </message>
    <message numerus="yes">
        <source>%n ops</source>
        <translation>
            <numerusform>%n Vorgang</numerusform>
            <numerusform>%n Vorgänge</numerusform>
        </translation>
    </message>
    <message>
        <source>MICRO-BATCHES HELD PER STAGE</source>
        <translation>GEHALTENE MIKRO-BATCHES JE STUFE</translation>
    </message>
    <message>
        <source>Stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source> · replica %1</source>
        <translation> · Replik %1</translation>
    </message>
    <message>
        <source> · tensor %1</source>
        <translation> · Tensor %1</translation>
    </message>
    <message>
        <source> · context %1</source>
        <translation> · Kontext %1</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Vorwärts</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>Rückwärts</translation>
    </message>
    <message>
        <source>Weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <source>Send / receive</source>
        <translation>Senden / Empfangen</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <source> (another setup)</source>
        <translation> (andere Einstellungen)</translation>
    </message>
    <message>
        <source>%1: step %2</source>
        <translation>%1: Schritt %2</translation>
    </message>
    <message>
        <source>, durations set by the pace</source>
        <translation>, Dauern vom Takt bestimmt</translation>
    </message>
    <message>
        <source>Parallelarium</source>
        <translation>Parallelarium</translation>
    </message>
    <message>
        <source>Starting the ranks</source>
        <translation>Die Ränge starten</translation>
    </message>
    <message>
        <source>Measuring this computer first, at most 5 s</source>
        <translation>Erst wird dieser Rechner vermessen, höchstens 5 s</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Cancelling</source>
        <translation>Wird abgebrochen</translation>
    </message>
    <message>
        <source>Run a small copy here to see ranks do it on this computer</source>
        <translation>Starte hier eine kleine Kopie, um Ränge auf diesem Rechner arbeiten zu sehen</translation>
    </message>
    <message>
        <source>Press Run to see your ranks do it</source>
        <translation>Drücke „Starten“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <source>length set by pace</source>
        <translation>Länge vom Takt bestimmt</translation>
    </message>
    <message>
        <source>the run&apos;s length is set by pace</source>
        <translation>Länge des Laufs vom Takt bestimmt</translation>
    </message>
    <message>
        <source>length is not evidence of speed</source>
        <translation>Länge sagt nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <source>the run&apos;s length is not evidence of speed</source>
        <translation>Länge des Laufs sagt nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <source>ends %1 sooner</source>
        <translation>endet %1 früher</translation>
    </message>
    <message>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Noch keine Vorhersage</translation>
    </message>
    <message>
        <source>each row stands for %1 ranks</source>
        <translation>jede Zeile steht für %1 Ränge</translation>
    </message>
    <message>
        <source>whole stages, not layers</source>
        <translation>ganze Stufen, nicht Schichten</translation>
    </message>
    <message>
        <source>before</source>
        <translation>vorher</translation>
    </message>
    <message>
        <source>YOUR RUN</source>
        <translation>DEIN LAUF</translation>
    </message>
    <message>
        <source>PINNED</source>
        <translation>ANGEHEFTET</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>Kommunikation</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>sent, all ranks</source>
        <translation>gesendet, alle Ränge</translation>
    </message>
    <message>
        <source>mean rate</source>
        <translation>mittlere Rate</translation>
    </message>
    <message>
        <source>holds nothing</source>
        <translation>hält nichts</translation>
    </message>
    <message>
        <source>%1 held</source>
        <translation>%1 gehalten</translation>
    </message>
    <message>
        <source>Stage %1 ×%2</source>
        <translation>Stufe %1 ×%2</translation>
    </message>
    <message>
        <source>%1× slower</source>
        <translation>%1× langsamer</translation>
    </message>
    <message>
        <source>%1× faster</source>
        <translation>%1× schneller</translation>
    </message>
    <message>
        <source>real time</source>
        <translation>Echtzeit</translation>
    </message>
</context>
<context>
    <name>ViewKey</name>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>Move left</source>
        <translation>Nach links</translation>
    </message>
    <message>
        <source>Move right</source>
        <translation>Nach rechts</translation>
    </message>
    <message>
        <source>Previous op of the rank</source>
        <translation>Voriger Vorgang des Rangs</translation>
    </message>
    <message>
        <source>Next op of the rank</source>
        <translation>Nächster Vorgang des Rangs</translation>
    </message>
    <message>
        <source>Op of the row above</source>
        <translation>Vorgang der Zeile darüber</translation>
    </message>
    <message>
        <source>Op of the row below</source>
        <translation>Vorgang der Zeile darunter</translation>
    </message>
    <message>
        <source>Who did this op wait for?</source>
        <translation>Auf wen hat dieser Vorgang gewartet?</translation>
    </message>
    <message>
        <source>Who waits for this op?</source>
        <translation>Wer wartet auf diesen Vorgang?</translation>
    </message>
    <message>
        <source>Show the op large; twice: fit</source>
        <translation>Den Vorgang groß zeigen; zweimal: alles</translation>
    </message>
    <message>
        <source>Show the whole step</source>
        <translation>Den ganzen Schritt zeigen</translation>
    </message>
    <message>
        <source>Set or remove a mark</source>
        <translation>Marke setzen oder entfernen</translation>
    </message>
    <message>
        <source>Select the op, then its time</source>
        <translation>Den Vorgang wählen, dann seine Zeit</translation>
    </message>
    <message>
        <source>Clear selection and range</source>
        <translation>Auswahl und Bereich aufheben</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation>Abspielen oder anhalten</translation>
    </message>
    <message>
        <source>To the previous event</source>
        <translation>Zum vorigen Ereignis</translation>
    </message>
    <message>
        <source>To the next event</source>
        <translation>Zum nächsten Ereignis</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>%1 bytes</source>
        <translation>%1 Bytes</translation>
    </message>
    <message>
        <source>lower bound at peak rates</source>
        <translation>untere Schranke bei Spitzenraten</translation>
    </message>
    <message>
        <source>predicted, assumed rates</source>
        <translation>vorhergesagt, angenommene Raten</translation>
    </message>
    <message>
        <source>predicted, published rates</source>
        <translation>vorhergesagt, veröffentlichte Raten</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>oversubscribed</source>
        <translation>überbelegt</translation>
    </message>
    <message>
        <source>paced</source>
        <translation>getaktet</translation>
    </message>
    <message>
        <source>shared GPU</source>
        <translation>geteilte GPU</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <source>%1 min ago</source>
        <translation>vor %1 min</translation>
    </message>
    <message>
        <source>today %1</source>
        <translation>heute %1</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>A workbench for distributed training: predicted and measured, side by side.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A document, a setup, or a picture exported from here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write the timeline as .png .svg .pdf, Chrome trace .json or .csv, without a window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a picture of the whole window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open this setup or document.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run the setup first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run it, and prove it on one rank.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logical size of the picture.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pixels per logical pixel: 1, 2, 4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark colours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>light or dark.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show this help.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the version.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::AllSettings</name>
    <message>
        <source>All settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch and model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Micro-batch size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Se&amp;quence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2 bytes)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unfused: keeps the scores</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fused: computes them again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Dropout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient &amp;clip (0: none)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parallelism</source>
        <translation>Parallelität</translation>
    </message>
    <message>
        <source>C&amp;hunks per rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context &amp;kind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ring</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all-gather</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ulysses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO &amp;group (0: all of DP)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Nodes (0: as needed)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Backend</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU, unpaced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU, paced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pac&amp;e, seconds a forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Timed steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Warm-up steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed (&amp;x)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <source>Te&amp;xt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text to train on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>simple English, made here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text to train on: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::Doctor</name>
    <message>
        <source>Doctor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine what this computer has …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, %3 cores, %4 memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never made: rates are assumed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The first run measures this computer, or Run, Calibrate.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Backend %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::EngineProcess</name>
    <message>
        <source>killed by signal %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exit status %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Picture: PNG, can be opened again here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture: SVG</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture: PDF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline: Chrome trace JSON, for Perfetto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline: table (CSV)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Format</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Scale</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>Far&amp;ben</translation>
    </message>
    <message>
        <source>Only the &amp;visible time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save …</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::HeldPlot</name>
    <message>
        <source>Micro-batches held per stage</source>
        <translation>Gehaltene Mikro-Batches je Stufe</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>stage %1 at most %2</source>
        <translation>Stufe %1 höchstens %2</translation>
    </message>
    <message>
        <source>Micro-batches held, %1: %2.</source>
        <translation>Gehaltene Mikro-Batches, %1: %2.</translation>
    </message>
    <message>
        <source>Held at %1, %2</source>
        <translation>Gehalten bei %1, %2</translation>
    </message>
    <message>
        <source>stage %1: %2</source>
        <translation>Stufe %1: %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonIndex</name>
    <message>
        <source>Lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPanel</name>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Who computes what, when</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each row of the picture is one **rank**, and each bar is one micro-batch passing forward or backward through that rank&apos;s layers. Hatched time is **idle**.

This is the prediction for the settings shown. Press **Run** and real ranks train that way: what was observed appears below it.

Turn any setting, or let a lesson lead you: **Lessons** above lists them all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · step %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your answer %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>**Hint %1.** %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>✓ Right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not quite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next hint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>▶ Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Commit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start “%1” again? Your answers to it are cleared and its numbers may change.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export my answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON files (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be written: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All lessons …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start this lesson again …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave the lesson and keep this setup</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export my answers …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More about this lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your order, one line per stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Feedback</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPlayer</name>
    <message>
        <source>Lesson: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your order could not be saved in %1: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::OpModel</name>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>not run yet</source>
        <translation>noch nicht gelaufen</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Op</source>
        <translation>Vorgang</translation>
    </message>
    <message>
        <source>Begin, ms
%1</source>
        <translation>Beginn, ms
%1</translation>
    </message>
    <message>
        <source>Duration, ms
%1</source>
        <translation>Dauer, ms
%1</translation>
    </message>
    <message>
        <source>Spread, ms
%1</source>
        <translation>Streuung, ms
%1</translation>
    </message>
    <message>
        <source>Sent, bytes
by plan</source>
        <translation>Gesendet, Bytes
nach Plan</translation>
    </message>
</context>
<context>
    <name>parallelarium::OpTable</name>
    <message>
        <source>Table of ops</source>
        <translation>Tabelle der Vorgänge</translation>
    </message>
    <message>
        <source>&amp;Copy the table or its selected rows</source>
        <translation>Tabelle oder gewählte Zeilen &amp;kopieren</translation>
    </message>
</context>
<context>
    <name>parallelarium::PipelineView</name>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>One stage: no rank waits for another, so there is no pipeline to see. Set Pipeline PP to 2 or more and the stages work in turn.</source>
        <translation>Eine Stufe: Kein Rang wartet auf einen anderen, es gibt also keine Pipeline zu sehen. Setze Pipeline PP auf 2 oder mehr, dann arbeiten die Stufen reihum.</translation>
    </message>
    <message>
        <source>Predicted and run in &amp;pairs</source>
        <translation>Vorhersage und Lauf in &amp;Paaren</translation>
    </message>
    <message>
        <source>&amp;Table of ops</source>
        <translation>&amp;Tabelle der Vorgänge</translation>
    </message>
    <message>
        <source>&amp;One rank per stage</source>
        <translation>&amp;Ein Rang je Stufe</translation>
    </message>
    <message>
        <source>Remove all &amp;marks</source>
        <translation>Alle &amp;Marken entfernen</translation>
    </message>
</context>
<context>
    <name>parallelarium::SectionHead</name>
    <message>
        <source>reset</source>
        <translation>zurücksetzen</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <source>Take back the changes of this section</source>
        <translation>Die Änderungen dieses Abschnitts zurücknehmen</translation>
    </message>
</context>
<context>
    <name>parallelarium::SelectionPanel</name>
    <message>
        <source>Selected</source>
        <translation>Ausgewählt</translation>
    </message>
    <message>
        <source>Click a bar to see how long it takes and what it waited for; drag over a time to see how it is spent.</source>
        <translation>Klicke auf einen Balken, um zu sehen, wie lange er dauert und worauf er gewartet hat; ziehe über eine Zeit, um zu sehen, wie sie verbracht wird.</translation>
    </message>
    <message>
        <source>Proof: the same as one rank</source>
        <translation>Beweis: dasselbe wie auf einem Rang</translation>
    </message>
    <message>
        <source>The losses and all gradients equal those of one rank within their bounds.</source>
        <translation>Verluste und alle Gradienten sind innerhalb ihrer Schranken gleich denen eines Rangs.</translation>
    </message>
    <message>
        <source>The run differs from one rank by more than its bounds allow.</source>
        <translation>Der Lauf weicht stärker von dem auf einem Rang ab, als seine Schranken erlauben.</translation>
    </message>
    <message>
        <source>loss differs by %1 (bound %2)</source>
        <translation>Verlust weicht um %1 ab (Schranke %2)</translation>
    </message>
    <message>
        <source>gradients differ by %1 (bound %2)</source>
        <translation>Gradienten weichen um %1 ab (Schranke %2)</translation>
    </message>
    <message>
        <source>largest difference: %1</source>
        <translation>größter Unterschied: %1</translation>
    </message>
    <message>
        <source>Formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <source>? hidden for now</source>
        <translation>? vorerst verborgen</translation>
    </message>
</context>
<context>
    <name>parallelarium::Session</name>
    <message>
        <source>%1 is not this computer, so nothing can run on it from here; run a small copy here instead.</source>
        <translation>%1 ist nicht dieser Rechner, von hier kann dort also nichts laufen; starte stattdessen hier eine kleine Kopie.</translation>
    </message>
    <message>
        <source>Run a small copy here</source>
        <translation>Kleine Kopie hier starten</translation>
    </message>
    <message numerus="yes">
        <source>Run on %n GPU rank(s)</source>
        <translation>
            <numerusform>Auf %n GPU-Rang starten</numerusform>
            <numerusform>Auf %n GPU-Rängen starten</numerusform>
        </translation>
    </message>
    <message>
        <source>Run on 1 CPU rank</source>
        <translation>Auf 1 CPU-Rang starten</translation>
    </message>
    <message>
        <source>Run on %1 CPU ranks</source>
        <translation>Auf %1 CPU-Rängen starten</translation>
    </message>
    <message>
        <source>%1, paced</source>
        <translation>%1, getaktet</translation>
    </message>
    <message>
        <source>%1, oversubscribed</source>
        <translation>%1, überbelegt</translation>
    </message>
    <message>
        <source>Starting the ranks</source>
        <translation>Die Ränge starten</translation>
    </message>
    <message>
        <source>Measuring this computer</source>
        <translation>Dieser Rechner wird vermessen</translation>
    </message>
    <message>
        <source>Cancelling</source>
        <translation>Wird abgebrochen</translation>
    </message>
</context>
<context>
    <name>parallelarium::SetupChips</name>
    <message>
        <source>Setup, in short</source>
        <translation>Einstellungen, kurz</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <source>%1 · %2 micro-batch</source>
        <translation>%1 · %2 Mikro-Batch</translation>
    </message>
    <message>
        <source>%1 · %2 micro-batches</source>
        <translation>%1 · %2 Mikro-Batches</translation>
    </message>
    <message>
        <source>Settings …</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Setup: %1</source>
        <translation>Einstellungen: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::SetupPanel</name>
    <message>
        <source>No whole number of micro-batches keeps %1 sequences with DP %2; the global batch changes.</source>
        <translation>Keine ganze Zahl von Mikro-Batches hält %1 Sequenzen mit DP %2; der globale Batch ändert sich.</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <source>%1 · %2 layers</source>
        <translation>%1 · %2 Schichten</translation>
    </message>
    <message>
        <source>Own model</source>
        <translation>Eigenes Modell</translation>
    </message>
    <message>
        <source>%1 parameters · %2 wide · %3 heads</source>
        <translation>%1 Parameter · %2 breit · %3 Köpfe</translation>
    </message>
    <message>
        <source>%1 parameters, %2 active · %3 wide</source>
        <translation>%1 Parameter, %2 aktiv · %3 breit</translation>
    </message>
    <message>
        <source>%1 cores,</source>
        <translation>%1 Kerne,</translation>
    </message>
    <message>
        <source>%1 per node ·</source>
        <translation>%1 je Knoten ·</translation>
    </message>
    <message>
        <source>%1 rank on %2 cores</source>
        <translation>%1 Rang auf %2 Kernen</translation>
    </message>
    <message>
        <source>%1 ranks on %2 cores</source>
        <translation>%1 Ränge auf %2 Kernen</translation>
    </message>
    <message>
        <source>%1 of %2 ranks</source>
        <translation>%1 von %2 Rängen</translation>
    </message>
    <message>
        <source>%1 ranks on %2 nodes</source>
        <translation>%1 Ränge auf %2 Knoten</translation>
    </message>
    <message>
        <source>set</source>
        <translation>eingestellt</translation>
    </message>
    <message>
        <source>%1 seq. · %2 tok.</source>
        <translation>%1 Seq. · %2 Tok.</translation>
    </message>
    <message>
        <source>%1 sequences of %2 tokens in one training step</source>
        <translation>%1 Sequenzen zu %2 Token in einem Trainingsschritt</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Parallelism</source>
        <translation>Parallelität</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Expert</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>Sequence parallel</source>
        <translation>Sequenzparallel</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <source>needs TP above 1</source>
        <translation>braucht TP über 1</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <source>World size</source>
        <translation>Ränge gesamt</translation>
    </message>
    <message>
        <source>nothing is shared out</source>
        <translation>nichts ist aufgeteilt</translation>
    </message>
    <message>
        <source>optimizer state is shared out</source>
        <translation>der Optimiererzustand ist aufgeteilt</translation>
    </message>
    <message>
        <source>optimizer state and gradients are shared out</source>
        <translation>Optimiererzustand und Gradienten sind aufgeteilt</translation>
    </message>
    <message>
        <source>optimizer state, gradients and parameters are shared out</source>
        <translation>Optimiererzustand, Gradienten und Parameter sind aufgeteilt</translation>
    </message>
    <message>
        <source>Batch and pipeline</source>
        <translation>Batch und Pipeline</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Ablaufplan</translation>
    </message>
    <message>
        <source>Micro-batches</source>
        <translation>Mikro-Batches</translation>
    </message>
    <message>
        <source>Keep the global batch</source>
        <translation>Globalen Batch halten</translation>
    </message>
    <message>
        <source>Keep the global batch: DP and micro-batch size then change the number of micro-batches</source>
        <translation>Globalen Batch halten: DP und Mikro-Batch-Größe ändern dann die Zahl der Mikro-Batches</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>Neu rechnen</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>select.</source>
        <translation>ausgew.</translation>
    </message>
    <message>
        <source>selective: attention is computed again in the backward</source>
        <translation>ausgewählt: Attention wird im Rückwärtslauf neu gerechnet</translation>
    </message>
    <message>
        <source>full</source>
        <translation>alles</translation>
    </message>
    <message>
        <source>only the inputs of layers are kept</source>
        <translation>nur die Eingaben der Schichten bleiben</translation>
    </message>
    <message>
        <source>All settings …</source>
        <translation>Alle Einstellungen …</translation>
    </message>
    <message>
        <source>Locked by this step of the lesson</source>
        <translation>In diesem Schritt der Lektion gesperrt</translation>
    </message>
    <message>
        <source>needs experts</source>
        <translation>braucht Experten</translation>
    </message>
</context>
<context>
    <name>parallelarium::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With the mouse on the timeline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+wheel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom at the pointer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wheel, Shift+wheel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Scroll; move through time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a range of time</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>parallelarium::StageStrip</name>
    <message>
        <source>Stages at this moment</source>
        <translation>Stufen in diesem Augenblick</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
</context>
<context>
    <name>parallelarium::StepDots</name>
    <message>
        <source>Step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::Strip</name>
    <message>
        <source>Predicted beside observed</source>
        <translation>Vorhergesagt neben beobachtet</translation>
    </message>
</context>
<context>
    <name>parallelarium::StripCell</name>
    <message>
        <source>difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>difference: %1</source>
        <translation>Unterschied: %1</translation>
    </message>
    <message>
        <source>your guess: %1</source>
        <translation>deine Schätzung: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::TimelineView</name>
    <message>
        <source>Move the playhead here</source>
        <translation>Abspielmarke hierher</translation>
    </message>
    <message>
        <source>Set or remove a mark here</source>
        <translation>Hier Marke setzen oder entfernen</translation>
    </message>
    <message>
        <source>Remove all marks</source>
        <translation>Alle Marken entfernen</translation>
    </message>
    <message>
        <source>Predicted and run in pairs</source>
        <translation>Vorhersage und Lauf in Paaren</translation>
    </message>
    <message>
        <source>Show one rank per stage</source>
        <translation>Einen Rang je Stufe zeigen</translation>
    </message>
    <message>
        <source>Show all ranks</source>
        <translation>Alle Ränge zeigen</translation>
    </message>
    <message>
        <source>Copy text</source>
        <translation>Text kopieren</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
    <message numerus="yes">
        <source>%n ops share these pixels; zoom in to see each.</source>
        <translation>
            <numerusform>%n Vorgang liegt auf diesen Pixeln.</numerusform>
            <numerusform>%n Vorgänge teilen sich diese Pixel; vergrößere, um jeden zu sehen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Selected: %1</source>
        <translation>Ausgewählt: %1</translation>
    </message>
    <message>
        <source>This op waited for no other.</source>
        <translation>Dieser Vorgang hat auf keinen anderen gewartet.</translation>
    </message>
    <message>
        <source>No op waits for this one.</source>
        <translation>Kein Vorgang wartet auf diesen.</translation>
    </message>
</context>
<context>
    <name>parallelarium::TopBar</name>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Prove it</source>
        <translation>Beweisen</translation>
    </message>
    <message>
        <source>Export ▾</source>
        <translation>Export ▾</translation>
    </message>
    <message>
        <source>Cancelling …</source>
        <translation>Wird abgebrochen …</translation>
    </message>
    <message>
        <source>Cancel calibration</source>
        <translation>Kalibrieren abbrechen</translation>
    </message>
    <message>
        <source>Calibrating · %1 · %2</source>
        <translation>Kalibriert · %1 · %2</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Proving · %1 · %2</source>
        <translation>Beweist · %1 · %2</translation>
    </message>
    <message>
        <source>Running · %1 · %2</source>
        <translation>Läuft · %1 · %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::TransportBar</name>
    <message>
        <source>Playback</source>
        <translation>Wiedergabe</translation>
    </message>
    <message>
        <source>Previous event</source>
        <translation>Voriges Ereignis</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Next event</source>
        <translation>Nächstes Ereignis</translation>
    </message>
    <message>
        <source>Slower</source>
        <translation>Langsamer</translation>
    </message>
    <message>
        <source>Faster</source>
        <translation>Schneller</translation>
    </message>
    <message>
        <source>Start again at the end</source>
        <translation>Am Ende von vorn</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Weniger Bewegung</translation>
    </message>
    <message>
        <source>Steps instead of moving pictures</source>
        <translation>Schritte statt bewegter Bilder</translation>
    </message>
    <message>
        <source>Speed: seconds on screen for one step</source>
        <translation>Tempo: Sekunden am Bildschirm für einen Schritt</translation>
    </message>
    <message>
        <source>%1 s per step</source>
        <translation>%1 s je Schritt</translation>
    </message>
    <message>
        <source>Time in the step</source>
        <translation>Zeit im Schritt</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Speed, %1</source>
        <translation>Tempo, %1</translation>
    </message>
    <message>
        <source>%1 of step</source>
        <translation>%1 des Schritts</translation>
    </message>
</context>
<context>
    <name>parallelarium::Window</name>
    <message>
        <source>Views</source>
        <translation>Ansichten</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Lesson and selection</source>
        <translation>Lektion und Auswahl</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Selected</source>
        <translation>Ausgewählt</translation>
    </message>
    <message>
        <source>Set %1</source>
        <translation>%1 setzen</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>More stages, TP, ZeRO or recompute would shrink it.</source>
        <translation>Mehr Stufen, TP, ZeRO oder Neurechnen würden es verkleinern.</translation>
    </message>
    <message>
        <source>This does not fit in memory. %1</source>
        <translation>Das passt nicht in den Speicher. %1</translation>
    </message>
    <message>
        <source>This does not fit in memory: stage %1 needs %2 of %3. %4</source>
        <translation>Das passt nicht in den Speicher: Stufe %1 braucht %2 von %3. %4</translation>
    </message>
    <message>
        <source>Run is off: %1</source>
        <translation>Starten geht nicht: %1</translation>
    </message>
    <message>
        <source>&amp;New</source>
        <translation>&amp;Neu</translation>
    </message>
    <message>
        <source>Start again with the default setup</source>
        <translation>Mit den Vorgaben von vorn beginnen</translation>
    </message>
    <message>
        <source>&amp;Open …</source>
        <translation>Ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>Open a document, a setup, or a picture exported from here</source>
        <translation>Ein Dokument, Einstellungen oder ein von hier exportiertes Bild öffnen</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>Save &amp;as …</source>
        <translation>Speichern &amp;unter …</translation>
    </message>
    <message>
        <source>Export &amp;picture …</source>
        <translation>&amp;Bild exportieren …</translation>
    </message>
    <message>
        <source>PNG, SVG or PDF of the timeline</source>
        <translation>PNG, SVG oder PDF der Zeitleiste</translation>
    </message>
    <message>
        <source>Export &amp;trace …</source>
        <translation>&amp;Trace exportieren …</translation>
    </message>
    <message>
        <source>Chrome trace JSON, for Perfetto</source>
        <translation>Chrome-Trace-JSON, für Perfetto</translation>
    </message>
    <message>
        <source>Export ta&amp;ble …</source>
        <translation>Tabe&amp;lle exportieren …</translation>
    </message>
    <message>
        <source>CSV, a line per op</source>
        <translation>CSV, eine Zeile je Vorgang</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederholen</translation>
    </message>
    <message>
        <source>Take back the changes of this section</source>
        <translation>Die Änderungen dieses Abschnitts zurücknehmen</translation>
    </message>
    <message>
        <source>&amp;All settings …</source>
        <translation>&amp;Alle Einstellungen …</translation>
    </message>
    <message>
        <source>&amp;Fit the step</source>
        <translation>Schritt &amp;einpassen</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>Ver&amp;größern</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>Ver&amp;kleinern</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>As the &amp;system</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>&amp;Restore layout</source>
        <translation>Anordnung &amp;wiederherstellen</translation>
    </message>
    <message>
        <source>Window size and zoom as at first start</source>
        <translation>Fenstergröße und Zoom wie beim ersten Start</translation>
    </message>
    <message>
        <source>&amp;Next pane</source>
        <translation>&amp;Nächster Bereich</translation>
    </message>
    <message>
        <source>Pre&amp;vious pane</source>
        <translation>&amp;Voriger Bereich</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>&amp;Starten</translation>
    </message>
    <message>
        <source>Run the setup on ranks of this computer</source>
        <translation>Die Einstellungen auf Rängen dieses Rechners laufen lassen</translation>
    </message>
    <message>
        <source>&amp;Cancel the run</source>
        <translation>Lauf &amp;abbrechen</translation>
    </message>
    <message>
        <source>&amp;Prove it</source>
        <translation>&amp;Beweisen</translation>
    </message>
    <message>
        <source>Run, repeat it on one rank, and compare losses and gradients</source>
        <translation>Laufen lassen, auf einem Rang wiederholen, Verluste und Gradienten vergleichen</translation>
    </message>
    <message>
        <source>P&amp;in</source>
        <translation>Anhe&amp;ften</translation>
    </message>
    <message>
        <source>Keep this run or prediction as a third lane, to see before and after</source>
        <translation>Diesen Lauf oder diese Vorhersage als dritte Spur behalten, um vorher und nachher zu sehen</translation>
    </message>
    <message>
        <source>&amp;Unpin</source>
        <translation>&amp;Lösen</translation>
    </message>
    <message>
        <source>Run a &amp;small copy here</source>
        <translation>&amp;Kleine Kopie hier starten</translation>
    </message>
    <message>
        <source>The same mesh, schedule and micro-batches with a model that fits this computer</source>
        <translation>Dasselbe Gitter, derselbe Ablaufplan und dieselben Mikro-Batches mit einem Modell, das auf diesen Rechner passt</translation>
    </message>
    <message>
        <source>Small copy</source>
        <translation>Kleine Kopie</translation>
    </message>
    <message>
        <source>C&amp;alibrate this computer</source>
        <translation>Diesen Rechner kal&amp;ibrieren</translation>
    </message>
    <message>
        <source>Measure its rates again; at most five seconds</source>
        <translation>Seine Raten neu messen; höchstens fünf Sekunden</translation>
    </message>
    <message>
        <source>&amp;All lessons …</source>
        <translation>&amp;Alle Lektionen …</translation>
    </message>
    <message>
        <source>&amp;Start the lesson again …</source>
        <translation>Lektion &amp;neu beginnen …</translation>
    </message>
    <message>
        <source>With new numbers</source>
        <translation>Mit neuen Zahlen</translation>
    </message>
    <message>
        <source>&amp;Export my answers …</source>
        <translation>Meine Antworten &amp;exportieren …</translation>
    </message>
    <message>
        <source>JSON for a teacher</source>
        <translation>JSON für die Lehrkraft</translation>
    </message>
    <message>
        <source>&amp;Leave the lesson</source>
        <translation>Lektion &amp;verlassen</translation>
    </message>
    <message>
        <source>Keeps the setup</source>
        <translation>Die Einstellungen bleiben</translation>
    </message>
    <message>
        <source>&amp;Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>&amp;Doctor</source>
        <translation>&amp;Diagnose</translation>
    </message>
    <message>
        <source>What this computer has for training, and what is missing</source>
        <translation>Was dieser Rechner zum Training hat und was fehlt</translation>
    </message>
    <message>
        <source>&amp;About Parallelarium</source>
        <translation>&amp;Über Parallelarium</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>&amp;Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>Re&amp;set section</source>
        <translation>Abschnitt zu&amp;rücksetzen</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>In the ti&amp;meline</source>
        <translation>In der Zeit&amp;leiste</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>Far&amp;ben</translation>
    </message>
    <message>
        <source>&amp;Playback</source>
        <translation>Wieder&amp;gabe</translation>
    </message>
    <message>
        <source>&amp;Lessons</source>
        <translation>&amp;Lektionen</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>Anywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>While the timeline has the focus</source>
        <translation>Wenn die Zeitleiste den Fokus hat</translation>
    </message>
    <message>
        <source>While the table of ops has the focus</source>
        <translation>Wenn die Tabelle den Fokus hat</translation>
    </message>
    <message>
        <source>About Parallelarium</source>
        <translation>Über Parallelarium</translation>
    </message>
    <message>
        <source>&lt;b&gt;Parallelarium %1&lt;/b&gt;</source>
        <translation>&lt;b&gt;Parallelarium %1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>A workbench for learning and planning distributed training of language models: every picture is predicted first, then run on real ranks.

The window is free software under the GNU General Public License, version 3 or later; engine, kernels and lessons are under the Apache License 2.0.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unsaved changes</source>
        <translation>Ungespeicherte Änderungen</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>Änderungen an %1 speichern?</translation>
    </message>
    <message>
        <source>this document</source>
        <translation>diesem Dokument</translation>
    </message>
    <message>
        <source>untitled</source>
        <translation>unbenannt</translation>
    </message>
    <message>
        <source>%1[*] — Parallelarium</source>
        <translation>%1[*] — Parallelarium</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Documents, setups and exported pictures (*.json *.png);;All files (*)</source>
        <translation>Dokumente, Einstellungen und exportierte Bilder (*.json *.png);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Documents (*%1)</source>
        <translation>Dokumente (*%1)</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
</context>
<context>
    <name>quantities</name>
    <message>
        <source>set by pace</source>
        <translation>vom Takt bestimmt</translation>
    </message>
    <message>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Verlust</translation>
    </message>
    <message>
        <source>run is of other settings</source>
        <translation>Lauf hat andere Einstellungen</translation>
    </message>
    <message>
        <source>not run yet</source>
        <translation>noch nicht gelaufen</translation>
    </message>
    <message>
        <source>Loss, step %1</source>
        <translation>Verlust, Schritt %1</translation>
    </message>
    <message>
        <source>run on one rank</source>
        <translation>Lauf auf einem Rang</translation>
    </message>
    <message>
        <source>run on %1 ranks</source>
        <translation>Lauf auf %1 Rängen</translation>
    </message>
    <message>
        <source>one rank</source>
        <translation>ein Rang</translation>
    </message>
    <message>
        <source>Prove it repeats the run on one rank</source>
        <translation>„Beweisen“ wiederholt den Lauf auf einem Rang</translation>
    </message>
    <message>
        <source>on one rank</source>
        <translation>auf einem Rang</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>Schrittdauer</translation>
    </message>
    <message>
        <source>Bubble of whole step</source>
        <translation>Blase am ganzen Schritt</translation>
    </message>
    <message>
        <source>Peak memory, %1</source>
        <translation>Speicherspitze, %1</translation>
    </message>
    <message>
        <source>Sent, %1</source>
        <translation>Gesendet, %1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>idle time over idle plus busy time of all ranks, %1; idle over busy (ideal) time is %2</source>
        <translation>untätige Zeit durch untätige plus tätige Zeit aller Ränge, %1; untätig durch tätige (ideale) Zeit ist %2</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>median of %1 steps; shortest %2, longest %3</source>
        <translation>Median von %1 Schritten; kürzester %2, längster %3</translation>
    </message>
    <message>
        <source>counted</source>
        <translation>gezählt</translation>
    </message>
    <message>
        <source>%1 since pinned run</source>
        <translation>%1 seit angeheftetem Lauf</translation>
    </message>
    <message>
        <source>%1 since pin</source>
        <translation>%1 seit Anheften</translation>
    </message>
    <message>
        <source>settings are not valid</source>
        <translation>Einstellungen sind nicht gültig</translation>
    </message>
    <message>
        <source>hidden for now</source>
        <translation>vorerst verborgen</translation>
    </message>
</context>
<context>
    <name>selection</name>
    <message>
        <source>computing inside</source>
        <translation>darin gerechnet</translation>
    </message>
    <message>
        <source>%1 collectives inside</source>
        <translation>darin %1 Kollektive</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>over %1 steps</source>
        <translation>über %1 Schritte</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>carries</source>
        <translation>trägt</translation>
    </message>
    <message>
        <source>idle %1 before:</source>
        <translation>davor %1 untätig:</translation>
    </message>
    <message>
        <source>waited %1 for</source>
        <translation>wartete %1 auf</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>input gradient</source>
        <translation>Eingabegradient</translation>
    </message>
    <message>
        <source>weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <source>%1 to %2 over %3 steps</source>
        <translation>%1 bis %2 über %3 Schritte</translation>
    </message>
    <message>
        <source>before it: idle %1, %2</source>
        <translation>davor: %1 untätig, %2</translation>
    </message>
    <message>
        <source>inside: computing %1, %2 collectives %3</source>
        <translation>darin: gerechnet %1, %2 Kollektive %3</translation>
    </message>
    <message>
        <source>the duration is set by the pace</source>
        <translation>die Dauer bestimmt der Takt</translation>
    </message>
    <message>
        <source>times are not evidence of speed</source>
        <translation>die Zeiten sagen nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <source>difference %1</source>
        <translation>Unterschied %1</translation>
    </message>
    <message>
        <source>warm-up</source>
        <translation>Anlauf</translation>
    </message>
    <message>
        <source>wait</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>transfer</source>
        <translation>Übertragung</translation>
    </message>
    <message>
        <source>drain</source>
        <translation>Auslauf</translation>
    </message>
    <message>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>%1 of micro-batch %2 on %3</source>
        <translation>%1 von Mikro-Batch %2 auf %3</translation>
    </message>
    <message>
        <source>Clearing the gradients on %1</source>
        <translation>Gradienten löschen auf %1</translation>
    </message>
    <message>
        <source>Optimizer on %1</source>
        <translation>Optimierer auf %1</translation>
    </message>
    <message>
        <source>%1 of micro-batch %2</source>
        <translation>%1 von Mikro-Batch %2</translation>
    </message>
    <message>
        <source>%1 from %2 to %3</source>
        <translation>%1 von %2 nach %3</translation>
    </message>
    <message>
        <source>%1 of %2 over %3 ranks, %4</source>
        <translation>%1 von %2 über %3 Ränge, %4</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Idle %1, %2: %3</source>
        <translation>Untätig %1, %2: %3</translation>
    </message>
    <message>
        <source>LOWER BOUND AT PEAK RATES</source>
        <translation>UNTERE SCHRANKE BEI SPITZENRATEN</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <source>assumed rates, this computer is not calibrated yet</source>
        <translation>angenommene Raten, dieser Rechner ist noch nicht kalibriert</translation>
    </message>
    <message>
        <source>for %1, assumed rates</source>
        <translation>für %1, angenommene Raten</translation>
    </message>
    <message>
        <source>for %1, published rates</source>
        <translation>für %1, veröffentlichte Raten</translation>
    </message>
    <message>
        <source>for this engine, calibrated</source>
        <translation>für diese Engine, kalibriert</translation>
    </message>
    <message>
        <source>for %1, calibrated</source>
        <translation>für %1, kalibriert</translation>
    </message>
    <message>
        <source>%1 RUN</source>
        <translation>LAUF: %1</translation>
    </message>
    <message>
        <source>step %1 of %2, the median</source>
        <translation>Schritt %1 von %2, der mittlere</translation>
    </message>
    <message>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <source>%1 UTC</source>
        <translation>%1 UTC</translation>
    </message>
    <message>
        <source>%1 stage</source>
        <translation>%1 Stufe</translation>
    </message>
    <message>
        <source>%1 stages</source>
        <translation>%1 Stufen</translation>
    </message>
    <message>
        <source>DP %1</source>
        <translation>DP %1</translation>
    </message>
    <message>
        <source>TP %1</source>
        <translation>TP %1</translation>
    </message>
    <message>
        <source>%1 micro-batch</source>
        <translation>%1 Mikro-Batch</translation>
    </message>
    <message>
        <source>%1 micro-batches</source>
        <translation>%1 Mikro-Batches</translation>
    </message>
    <message>
        <source>micro-batch size %1</source>
        <translation>Mikro-Batch-Größe %1</translation>
    </message>
    <message>
        <source>run with other settings</source>
        <translation>Lauf mit anderen Einstellungen</translation>
    </message>
    <message>
        <source>run with %1</source>
        <translation>Lauf mit %1</translation>
    </message>
    <message>
        <source>No pipeline</source>
        <translation>Keine Pipeline</translation>
    </message>
    <message>
        <source>%1 replica</source>
        <translation>%1 Replik</translation>
    </message>
    <message>
        <source>%1 replicas</source>
        <translation>%1 Repliken</translation>
    </message>
    <message>
        <source>%1 layer</source>
        <translation>%1 Schicht</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 Schichten</translation>
    </message>
    <message>
        <source>DP %1 TP %2 PP %3 CP %4 EP %5</source>
        <translation>DP %1 TP %2 PP %3 CP %4 EP %5</translation>
    </message>
    <message>
        <source>%1 micro-batches of %2</source>
        <translation>%1 Mikro-Batches zu %2</translation>
    </message>
    <message>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <source>calibrated %1</source>
        <translation>kalibriert %1</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>stage %1 %2</source>
        <translation>Stufe %1 %2</translation>
    </message>
    <message>
        <source>stage %1 %2, %3</source>
        <translation>Stufe %1 %2, %3</translation>
    </message>
    <message>
        <source>holds nothing</source>
        <translation>hält nichts</translation>
    </message>
    <message>
        <source>holds %1</source>
        <translation>hält %1</translation>
    </message>
    <message>
        <source>At %1: %2.</source>
        <translation>Bei %1: %2.</translation>
    </message>
</context>
</TS>
