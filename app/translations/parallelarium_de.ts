<?xml version="1.0" encoding="utf-8"?>
<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en_US">
<context>
    <name>QObject</name>
    <message>
        <location filename="../setup_panel.cpp" line="21"/>
        <source>calibrated today</source>
        <translation>heute kalibriert</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="21"/>
        <source>calibrated %1</source>
        <translation>kalibriert %1</translation>
    </message>
    <message numerus="yes">
        <location filename="../views/bar_paint.cpp" line="164"/>
        <source>%n ops</source>
        <translation>
            <numerusform>%n Vorgang</numerusform>
            <numerusform>%n Vorgänge</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../views/held_figure.cpp" line="155"/>
        <source>MICRO-BATCHES HELD PER STAGE</source>
        <translation>GEHALTENE MIKRO-BATCHES JE STUFE</translation>
    </message>
    <message>
        <location filename="../views/lanes.cpp" line="14"/>
        <location filename="../views/stage_strip.cpp" line="93"/>
        <source>Stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <location filename="../views/lanes.cpp" line="17"/>
        <source> · replica %1</source>
        <translation> · Replik %1</translation>
    </message>
    <message>
        <location filename="../views/lanes.cpp" line="18"/>
        <source> · tensor %1</source>
        <translation> · Tensor %1</translation>
    </message>
    <message>
        <location filename="../views/lanes.cpp" line="19"/>
        <source> · context %1</source>
        <translation> · Kontext %1</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="31"/>
        <source>Forward</source>
        <translation>Vorwärts</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="31"/>
        <source>Backward</source>
        <translation>Rückwärts</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="31"/>
        <source>Weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="32"/>
        <source>Send / receive</source>
        <translation>Senden / Empfangen</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="32"/>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <location filename="../views/legend.cpp" line="37"/>
        <source>Bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <location filename="../views/picture_export.cpp" line="44"/>
        <source> (another setup)</source>
        <translation> (andere Einstellungen)</translation>
    </message>
    <message>
        <location filename="../views/picture_export.cpp" line="49"/>
        <source>%1: step %2</source>
        <translation>%1: Schritt %2</translation>
    </message>
    <message>
        <location filename="../views/picture_export.cpp" line="51"/>
        <source>, durations set by the pace</source>
        <translation>, Dauern vom Takt bestimmt</translation>
    </message>
    <message>
        <location filename="../views/collective_picture.cpp" line="101"/>
        <location filename="../views/expert_picture.cpp" line="132"/>
        <location filename="../views/memory_shown.cpp" line="199"/>
        <location filename="../views/mesh_picture.cpp" line="112"/>
        <location filename="../views/picture_export.cpp" line="106"/>
        <source>Parallelarium</source>
        <translation>Parallelarium</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="16"/>
        <source>Starting the ranks</source>
        <translation>Die Ränge starten</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="18"/>
        <source>Measuring this computer first, at most 5 s</source>
        <translation>Erst wird dieser Rechner vermessen, höchstens 5 s</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="20"/>
        <source>Running</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="22"/>
        <source>Cancelling</source>
        <translation>Wird abgebrochen</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="27"/>
        <source>Run a small copy here to see ranks do it on this computer</source>
        <translation>Starte hier eine kleine Kopie, um Ränge auf diesem Rechner arbeiten zu sehen</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="29"/>
        <source>Press Run to see your ranks do it</source>
        <translation>Drücke „Starten“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="46"/>
        <source>length set by pace</source>
        <translation>Länge vom Takt bestimmt</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="47"/>
        <source>the run&apos;s length is set by pace</source>
        <translation>Länge des Laufs vom Takt bestimmt</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="51"/>
        <source>length is not evidence of speed</source>
        <translation>Länge sagt nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="52"/>
        <source>the run&apos;s length is not evidence of speed</source>
        <translation>Länge des Laufs sagt nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="57"/>
        <source>ends %1 sooner</source>
        <translation>endet %1 früher</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="98"/>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="99"/>
        <source>No prediction yet</source>
        <translation>Noch keine Vorhersage</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="105"/>
        <source>each row stands for %1 ranks</source>
        <translation>jede Zeile steht für %1 Ränge</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="109"/>
        <source>whole stages, not layers</source>
        <translation>ganze Stufen, nicht Schichten</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="126"/>
        <source>before</source>
        <translation>vorher</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="129"/>
        <source>YOUR RUN</source>
        <translation>DEIN LAUF</translation>
    </message>
    <message>
        <location filename="../views/picture_source.cpp" line="139"/>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="104"/>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="104"/>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="105"/>
        <source>weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="106"/>
        <source>communication</source>
        <translation>Kommunikation</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="106"/>
        <source>optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="108"/>
        <source>range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="132"/>
        <location filename="../views/stage_strip.cpp" line="94"/>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="134"/>
        <source>sent, all ranks</source>
        <translation>gesendet, alle Ränge</translation>
    </message>
    <message>
        <location filename="../views/range_readout.cpp" line="134"/>
        <source>mean rate</source>
        <translation>mittlere Rate</translation>
    </message>
    <message>
        <location filename="../views/stage_strip.cpp" line="49"/>
        <source>holds nothing</source>
        <translation>hält nichts</translation>
    </message>
    <message>
        <location filename="../views/stage_strip.cpp" line="74"/>
        <source>%1 held</source>
        <translation>%1 gehalten</translation>
    </message>
    <message>
        <location filename="../views/timeline_layout.cpp" line="53"/>
        <source>Stage %1 ×%2</source>
        <translation>Stufe %1 ×%2</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="72"/>
        <source>%1× slower</source>
        <translation>%1× langsamer</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="75"/>
        <source>%1× faster</source>
        <translation>%1× schneller</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="76"/>
        <source>real time</source>
        <translation>Echtzeit</translation>
    </message>
    <message>
        <location filename="../lesson/guess_text.cpp" line="41"/>
        <source>A share lies between 0&#xa0;% and 100&#xa0;%.</source>
        <translation>Ein Anteil liegt zwischen 0&#xa0;% und 100&#xa0;%.</translation>
    </message>
    <message>
        <location filename="../lesson/guess_text.cpp" line="42"/>
        <source>The answer cannot be negative.</source>
        <translation>Die Antwort kann nicht negativ sein.</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="18"/>
        <source>not calibrated yet</source>
        <translation>noch nicht kalibriert</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="193"/>
        <source>sizes predicted, and counted in the run (%1)</source>
        <translation>Größen vorhergesagt und im Lauf gezählt (%1)</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="195"/>
        <source>sizes predicted</source>
        <translation>Größen vorhergesagt</translation>
    </message>
    <message>
        <location filename="../scroll_hint.cpp" line="24"/>
        <source>More below</source>
        <translation>Mehr darunter</translation>
    </message>
    <message>
        <location filename="../setup_fields.cpp" line="145"/>
        <source>Micro-batches</source>
        <translation>Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../setup_fields.cpp" line="146"/>
        <source>Micro-batch size</source>
        <translation>Mikro-Batch-Größe</translation>
    </message>
    <message>
        <location filename="../setup_fields.cpp" line="147"/>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <location filename="../setup_fields.cpp" line="148"/>
        <source>ZeRO group</source>
        <translation>ZeRO-Gruppe</translation>
    </message>
    <message>
        <location filename="../small_copy.cpp" line="118"/>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <location filename="../small_copy.cpp" line="120"/>
        <source>%1 in place of %2</source>
        <translation>%1 statt %2</translation>
    </message>
</context>
<context>
    <name>ViewKey</name>
    <message>
        <location filename="../views/view_keys.cpp" line="21"/>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="22"/>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="23"/>
        <source>Move left</source>
        <translation>Nach links</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="24"/>
        <source>Move right</source>
        <translation>Nach rechts</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="25"/>
        <source>Previous op of the rank</source>
        <translation>Voriger Vorgang des Rangs</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="27"/>
        <source>Next op of the rank</source>
        <translation>Nächster Vorgang des Rangs</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="29"/>
        <source>Op of the row above</source>
        <translation>Vorgang der Zeile darüber</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="30"/>
        <source>Op of the row below</source>
        <translation>Vorgang der Zeile darunter</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="33"/>
        <source>Who did this op wait for?</source>
        <translation>Auf wen hat dieser Vorgang gewartet?</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="34"/>
        <source>Who waits for this op?</source>
        <translation>Wer wartet auf diesen Vorgang?</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="36"/>
        <source>Show the op large; twice: fit</source>
        <translation>Den Vorgang groß zeigen; zweimal: alles</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="38"/>
        <source>Show the whole step</source>
        <translation>Den ganzen Schritt zeigen</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="40"/>
        <source>Set or remove a mark</source>
        <translation>Marke setzen oder entfernen</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="41"/>
        <source>Select the op, then its time</source>
        <translation>Den Vorgang wählen, dann seine Zeit</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="43"/>
        <source>Clear selection and range</source>
        <translation>Auswahl und Bereich aufheben</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="45"/>
        <source>Play or pause</source>
        <translation>Abspielen oder anhalten</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="46"/>
        <source>To the previous event</source>
        <translation>Zum vorigen Ereignis</translation>
    </message>
    <message>
        <location filename="../views/view_keys.cpp" line="48"/>
        <source>To the next event</source>
        <translation>Zum nächsten Ereignis</translation>
    </message>
</context>
<context>
    <name>collectives</name>
    <message>
        <location filename="../collective_plan.cpp" line="20"/>
        <source>All-reduce</source>
        <translation>All-Reduce</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="22"/>
        <source>All-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="24"/>
        <source>Reduce-scatter</source>
        <translation>Reduce-Scatter</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="26"/>
        <source>All-to-all</source>
        <translation>All-to-All</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="28"/>
        <source>Broadcast</source>
        <translation>Broadcast</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="30"/>
        <source>Scatter</source>
        <translation>Scatter</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="32"/>
        <source>Gather</source>
        <translation>Gather</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="34"/>
        <source>Reduce</source>
        <translation>Reduce</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="42"/>
        <source>Switch</source>
        <translation>Switch</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="44"/>
        <source>Ring of links</source>
        <translation>Verbindungsring</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="46"/>
        <source>2-D torus</source>
        <translation>2D-Torus</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="48"/>
        <source>Two levels</source>
        <translation>Zwei Ebenen</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="50"/>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="65"/>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="65"/>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="66"/>
        <location filename="../views/collective_rounding.cpp" line="28"/>
        <location filename="../views/collective_words.cpp" line="245"/>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <location filename="../collective_plan.cpp" line="69"/>
        <source>root %1</source>
        <translation>Wurzel %1</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="66"/>
        <source>Steps in time</source>
        <translation>Schritte in der Zeit</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="69"/>
        <source>above %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="71"/>
        <source>below: a run of other settings</source>
        <translation>darunter: Lauf mit anderen Einstellungen</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="79"/>
        <source>repeat %1 of %2, the median</source>
        <translation>Wiederholung %1 von %2, der Median</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="84"/>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="89"/>
        <source>assumed links, %1 and %2; a run is on this computer</source>
        <translation>angenommene Verbindungen, %1 und %2; ein Lauf ist auf diesem Rechner</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="92"/>
        <source>press Run to see your ranks do it</source>
        <translation>drücke „Starten“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="117"/>
        <location filename="../views/collective_paint.cpp" line="163"/>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="160"/>
        <source>≤ %1</source>
        <translation>≤ %1</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="183"/>
        <source>Sent per rank</source>
        <translation>Gesendet je Rang</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="189"/>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="195"/>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="201"/>
        <source>Algorithm bandwidth</source>
        <translation>Alg.-Bandbreite</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="207"/>
        <source>Bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="223"/>
        <source>Cost of this run</source>
        <translation>Kosten dieses Laufs</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="232"/>
        <source>formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="237"/>
        <source>not run</source>
        <translation>kein Lauf</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="254"/>
        <source>Run it, and every cell of every rank is compared.</source>
        <translation>Drücke „Starten“, dann wird jede Zelle jedes Rangs verglichen.</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="259"/>
        <source>%1: verified cell by cell.</source>
        <translation>%1: Zelle für Zelle geprüft.</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="263"/>
        <source>%1 cells are wrong.</source>
        <translation>%1 Zellen sind falsch.</translation>
    </message>
    <message>
        <location filename="../views/collective_figures.cpp" line="266"/>
        <source>The first: rank %1, element %2 is %3, not %4.</source>
        <translation>Die erste: Rang %1, Element %2 ist %3, nicht %4.</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="150"/>
        <source>Left: the all-reduce. Right: a reduce-scatter, then an all-gather.</source>
        <translation>Links: das All-Reduce. Rechts: ein Reduce-Scatter, dann ein All-Gather.</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="154"/>
        <source>All %1 chunks hold the same.</source>
        <translation>Alle %1 Stücke halten dasselbe.</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="155"/>
        <source>%1 of %2 chunks hold the same now.</source>
        <translation>%1 von %2 Stücken halten jetzt dasselbe.</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="300"/>
        <source>arrived on each rank, by where it came from</source>
        <translation>auf jedem Rang angekommen, nach Herkunft</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="313"/>
        <source>The result, bit by bit</source>
        <translation>Das Ergebnis, Bit für Bit</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="315"/>
        <location filename="../views/collective_words.cpp" line="273"/>
        <source>Step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="316"/>
        <location filename="../views/collective_words.cpp" line="274"/>
        <source>Step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/collective_paint.cpp" line="326"/>
        <source>marked: chunks with elements that another order of adding gives other bits</source>
        <translation>markiert: Stücke mit Elementen, denen eine andere Additionsreihenfolge andere Bits gibt</translation>
    </message>
    <message>
        <location filename="../views/collective_picture.cpp" line="24"/>
        <location filename="../views/collective_picture.cpp" line="27"/>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <location filename="../views/collective_picture.cpp" line="29"/>
        <source>links: %1, latency %2, %3</source>
        <translation>Verbindungen: %1, Latenz %2, %3</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="257"/>
        <source>predicted: %1 is quickest at every size</source>
        <translation>vorhergesagt: %1 ist bei jeder Größe am schnellsten</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="260"/>
        <source>predicted: %1 for small messages, %2 from %3</source>
        <translation>vorhergesagt: %1 für kleine Nachrichten, %2 ab %3</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="262"/>
        <source>predicted: %1 for small messages, %2 for large</source>
        <translation>vorhergesagt: %1 für kleine Nachrichten, %2 für große</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="273"/>
        <source>BUS BANDWIDTH BY MESSAGE SIZE</source>
        <translation>BUSBANDBREITE NACH NACHRICHTENGRÖSSE</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="327"/>
        <source>Bus bandwidth by message size: %1.</source>
        <translation>Busbandbreite nach Nachrichtengröße: %1.</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="328"/>
        <source>hidden</source>
        <translation>verborgen</translation>
    </message>
    <message>
        <location filename="../views/collective_plot.cpp" line="352"/>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <location filename="../views/collective_rounding.cpp" line="26"/>
        <source>all the same</source>
        <translation>alle gleich</translation>
    </message>
    <message>
        <location filename="../views/collective_rounding.cpp" line="69"/>
        <source>Bits are compared where a second algorithm works with so many ranks and all arrays together take at most 256 MiB</source>
        <translation>Bits werden verglichen, wo ein zweiter Algorithmus mit so vielen Rängen geht und alle Arrays zusammen höchstens 256 MiB brauchen</translation>
    </message>
    <message>
        <location filename="../views/collective_rounding.cpp" line="72"/>
        <source>%1 combines nothing, so no bits can differ</source>
        <translation>%1 verknüpft nichts, also können keine Bits abweichen</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="20"/>
        <source>one chunk</source>
        <translation>ein Stück</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="20"/>
        <source>%1 chunks</source>
        <translation>%1 Stücke</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="26"/>
        <source>who combine it with their own</source>
        <translation>die das Eigene damit verknüpfen</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="27"/>
        <source>who adds it to its own</source>
        <translation>der das Eigene dazu addiert</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="28"/>
        <source>who keep it</source>
        <translation>die das Empfangene behalten</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="28"/>
        <source>who keeps it</source>
        <translation>der das Empfangene behält</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="41"/>
        <source>product</source>
        <translation>Produkt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="43"/>
        <source>smallest</source>
        <translation>kleinster Wert</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="45"/>
        <source>largest</source>
        <translation>größter Wert</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="47"/>
        <source>average</source>
        <translation>Mittelwert</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="49"/>
        <source>sum</source>
        <translation>Summe</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="67"/>
        <source>reduce</source>
        <translation>Reduce</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="67"/>
        <source>reduce-scatter</source>
        <translation>Reduce-Scatter</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="68"/>
        <source>broadcast</source>
        <translation>Broadcast</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="68"/>
        <source>all-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="72"/>
        <source>nothing has to be sent</source>
        <translation>nichts muss gesendet werden</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="76"/>
        <source>nothing is sent</source>
        <translation>nichts wird gesendet</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="87"/>
        <source>chunks</source>
        <translation>Stücke</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="92"/>
        <source>its right neighbour</source>
        <translation>seinen rechten Nachbarn</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="93"/>
        <source>its left neighbour</source>
        <translation>seinen linken Nachbarn</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="94"/>
        <source>the rank %1 to its right</source>
        <translation>den %1. Rang rechts von sich</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="95"/>
        <source>every rank sends %1 to %2, %3</source>
        <translation>jeder Rang sendet %1 an %2, %3</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="98"/>
        <source>every rank sends %1 to every other, %2</source>
        <translation>jeder Rang sendet %1 an jeden der anderen, %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="100"/>
        <source>rank %1 sends %2 to each of %3 ranks, %4</source>
        <translation>Rang %1 sendet %2 an jeden von %3 Rängen, %4</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="106"/>
        <source>%1 ranks send %2 each to rank %3, %4</source>
        <translation>%1 Ränge senden je %2 an Rang %3, %4</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="112"/>
        <source>rank %1 sends %2 to rank %3, %4</source>
        <translation>Rang %1 sendet %2 an Rang %3, %4</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="122"/>
        <source>partners %1 apart exchange %2, %3</source>
        <translation>%2 tauschen Partner im Abstand %1, %3</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="127"/>
        <source>%1 messages of %2, %3</source>
        <translation>%1 Nachrichten (%2) an Ränge, %3</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="133"/>
        <source>one rank has nothing to send</source>
        <translation>ein einzelner Rang hat nichts zu senden</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="145"/>
        <location filename="../views/collective_words.cpp" line="252"/>
        <source>%1 to %2</source>
        <translation>%1 – %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="149"/>
        <source>%1 in each of %2 messages of this step</source>
        <translation>%1 in jeder von %2 Nachrichten dieses Schritts</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="150"/>
        <source>%1 on every link in this step</source>
        <translation>%1 auf jeder Verbindung in diesem Schritt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="152"/>
        <source>%1 on one link in this step</source>
        <translation>%1 auf einer Verbindung in diesem Schritt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="153"/>
        <source>%1 on each of %2 links in this step</source>
        <translation>%1 auf jeder von %2 Verbindungen in diesem Schritt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="160"/>
        <source>each rank</source>
        <translation>jeder Rang</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="160"/>
        <source>rank %1, the busiest,</source>
        <translation>Rang %1, der am meisten sendet,</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="162"/>
        <source>%1 has sent %2 of its %3</source>
        <translation>%1 hat %2 von %3 gesendet</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="169"/>
        <source>the one rank</source>
        <translation>dem einen Rang</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="169"/>
        <source>all %1 ranks</source>
        <translation>allen %1 Rängen</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="172"/>
        <source>Every chunk ends as the %1 of %2, on every rank</source>
        <translation>Jedes Stück endet auf jedem Rang als %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="174"/>
        <source>Every rank ends with its own chunk, the %1 of %2</source>
        <translation>Jeder Rang hat am Ende sein eigenes Stück, als %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="176"/>
        <source>Every chunk ends as the %1 of %2, on rank %3</source>
        <translation>Jedes Stück endet auf Rang %3 als %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="180"/>
        <source>Every rank ends with the chunks of %1</source>
        <translation>Jeder Rang hat am Ende die Stücke von %1</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="182"/>
        <source>Rank %1 ends with the chunks of %2</source>
        <translation>Rang %1 hat am Ende die Stücke von %2</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="184"/>
        <source>Every rank ends with its own chunk of what rank %1 had</source>
        <translation>Jeder Rang hat am Ende sein eigenes Stück von dem, was Rang %1 hatte</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="186"/>
        <source>Every rank ends with all that rank %1 had</source>
        <translation>Jeder Rang hat am Ende alles, was Rang %1 hatte</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="188"/>
        <source>Every rank ends with what all the others had for it</source>
        <translation>Jeder Rang hat am Ende, was alle anderen für ihn hatten</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="196"/>
        <source>%1 against %2, same inexact inputs: </source>
        <translation>%1 gegen %2, gleiche ungenaue Eingaben: </translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="200"/>
        <source>every bit is the same, since two numbers have one sum</source>
        <translation>jedes Bit ist gleich, denn zwei Zahlen haben nur eine Summe</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="202"/>
        <source>every bit is the same</source>
        <translation>jedes Bit ist gleich</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="204"/>
        <source>%1 of %2 elements differ, by at most %3 in the last place</source>
        <translation>%1 von %2 Elementen weichen ab, um höchstens %3 in der letzten Stelle</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="207"/>
        <source>1 unit</source>
        <translation>1 Einheit</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="208"/>
        <source>%1 units</source>
        <translation>%1 Einheiten</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="210"/>
        <source>ranks differ among themselves</source>
        <translation>die Ränge weichen voneinander ab</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="221"/>
        <source>Chunk %1 from rank %2 to rank %3</source>
        <translation>Stück %1 von Rang %2 zu Rang %3</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="245"/>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="246"/>
        <source>carries</source>
        <translation>trägt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="252"/>
        <source>adds</source>
        <translation>addiert – zu</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="254"/>
        <source>brings</source>
        <translation>bringt</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="257"/>
        <source>%1: waited</source>
        <translation>%1: gewartet</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="259"/>
        <source>%1: transferred in</source>
        <translation>%1: übertragen in</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="271"/>
        <source>One rank has nothing to send.</source>
        <translation>Ein einzelner Rang hat nichts zu senden.</translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="282"/>
        <source>%1 chunks are under way, %2 of this step have arrived. </source>
        <translation>%1 Stücke sind unterwegs, %2 dieses Schritts sind angekommen. </translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="294"/>
        <source>Rank %1 holds %2. </source>
        <translation>Rang %1 hält %2. </translation>
    </message>
    <message>
        <location filename="../views/collective_words.cpp" line="296"/>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
</context>
<context>
    <name>experts</name>
    <message>
        <location filename="../views/expert_data.cpp" line="86"/>
        <source>router</source>
        <translation>Router</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="88"/>
        <source>dispatch</source>
        <translation>Dispatch</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="90"/>
        <source>expert MLPs</source>
        <translation>Experten-MLPs</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="92"/>
        <source>waiting for the fullest rank</source>
        <translation>Warten auf den vollsten Rang</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="94"/>
        <source>combine</source>
        <translation>Combine</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="200"/>
        <source>balance loss %1</source>
        <translation>Ausgleichsverlust %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="201"/>
        <source>bias rate %1</source>
        <translation>Bias-Rate %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="202"/>
        <source>z-loss %1</source>
        <translation>z-Verlust %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="202"/>
        <source>%1 router</source>
        <translation>Router %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="203"/>
        <location filename="../views/expert_picture.cpp" line="137"/>
        <source>skew %1</source>
        <translation>Schiefe %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="203"/>
        <location filename="../views/expert_words.cpp" line="30"/>
        <source>capacity %1</source>
        <translation>Kapazität %1</translation>
    </message>
    <message>
        <location filename="../views/expert_data.cpp" line="204"/>
        <source>learning rate %1</source>
        <translation>Lernrate %1</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="50"/>
        <source>%1 experts</source>
        <translation>%1 Experten</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="60"/>
        <source>%1, training step %2</source>
        <translation>%1, Trainingsschritt %2</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="68"/>
        <source>Layer %1 in time</source>
        <translation>Schicht %1 in der Zeit</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="71"/>
        <source>, by the run&apos;s routing</source>
        <translation>, nach dem Routing des Laufs</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="73"/>
        <source>above %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="77"/>
        <source>first %1 of %2 ranks</source>
        <translation>erste %1 von %2 Rängen</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="92"/>
        <location filename="../views/expert_paint.cpp" line="43"/>
        <location filename="../views/expert_run.cpp" line="104"/>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="124"/>
        <source>router and expert MLPs</source>
        <translation>Router und Experten-MLPs</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="125"/>
        <source>dispatch and combine</source>
        <translation>Dispatch und Combine</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="139"/>
        <source>Balance loss / α (1 is even)</source>
        <translation>Ausgleichsverlust / α (1: gleichmäßig)</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="142"/>
        <source>Dropped</source>
        <translation>Verworfen</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="143"/>
        <source>none, dropless</source>
        <translation>keine, dropless</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="144"/>
        <source>%1 of %2, %3</source>
        <translation>%1 von %2, %3</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="147"/>
        <source>Fullest rank / mean</source>
        <translation>Vollster Rang / Mittel</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="149"/>
        <source>Capacity of an expert (dashed)</source>
        <translation>Expertenkapazität (gestrichelt)</translation>
    </message>
    <message>
        <location filename="../views/expert_lanes.cpp" line="150"/>
        <source>%1 × %2 homes</source>
        <translation>%1 × %2 Ränge</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="24"/>
        <source>and 1 more rank</source>
        <translation>und 1 weiterer Rang</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="24"/>
        <source>and %1 more ranks</source>
        <translation>und %1 weitere Ränge</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="35"/>
        <source>Tokens at home</source>
        <translation>Token zu Hause</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="38"/>
        <source>first %1 of %2</source>
        <translation>erste %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="84"/>
        <source>All-to-all, tokens sent</source>
        <translation>All-to-All, gesendete Token</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="87"/>
        <source>Tokens sent, run</source>
        <translation>Gesendete Token, Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="89"/>
        <source>Tokens sent</source>
        <translation>Gesendete Token</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="153"/>
        <source>Dashed: stays home. %1 travel, and come back.</source>
        <translation>Gestrichelt: bleibt zu Hause. %1 gehen hin und kommen zurück.</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="169"/>
        <source>Experts, by their rank</source>
        <translation>Experten, nach ihrem Rang</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="169"/>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="170"/>
        <source>%1, run</source>
        <translation>%1, Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="219"/>
        <source>%1 dropped</source>
        <translation>%1 verworfen</translation>
    </message>
    <message>
        <location filename="../views/expert_paint.cpp" line="345"/>
        <source>? hidden for now</source>
        <translation>? vorerst verborgen</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="24"/>
        <source>Not measured: the run is of other settings</source>
        <translation>Nicht gemessen: der Lauf hat andere Einstellungen</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="26"/>
        <source>Not measured yet: press Run to see your ranks do it</source>
        <translation>Noch nicht gemessen: drücke „Starten“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="27"/>
        <source>Not measured: %1</source>
        <translation>Nicht gemessen: %1</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="49"/>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="52"/>
        <source>run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="53"/>
        <source>pinned run</source>
        <translation>angehefteter Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="88"/>
        <source>A program of this size is made of whole stages; its layers have no times.</source>
        <translation>Ein Programm dieser Größe besteht aus ganzen Stufen; seine Schichten haben keine Zeiten.</translation>
    </message>
    <message>
        <location filename="../views/expert_picture.cpp" line="89"/>
        <source>There are no times of this layer.</source>
        <translation>Von dieser Schicht gibt es keine Zeiten.</translation>
    </message>
    <message>
        <location filename="../views/expert_run.cpp" line="99"/>
        <source>Choices by home, run</source>
        <translation>Zuordnungen je Rang, Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_run.cpp" line="100"/>
        <source>%1 each</source>
        <translation>je %1</translation>
    </message>
    <message>
        <location filename="../views/expert_run.cpp" line="141"/>
        <source>Fullest expert / mean, by step</source>
        <translation>Vollster Experte / Mittel, je Schritt</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="24"/>
        <source>Expert routing, run, training step %1</source>
        <translation>Experten-Routing, Lauf, Trainingsschritt %1</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="25"/>
        <source>Expert routing</source>
        <translation>Experten-Routing</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="26"/>
        <source>%1 experts on every rank</source>
        <translation>%1 Experten auf jedem Rang</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="27"/>
        <source>%1 experts on %2 ranks</source>
        <translation>%1 Experten auf %2 Rängen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="28"/>
        <source>top-%1 of %2 tokens a rank</source>
        <translation>Top-%1 von %2 Token je Rang</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="31"/>
        <source>dropless</source>
        <translation>dropless</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="32"/>
        <source>layer %1, micro-batch %2</source>
        <translation>Schicht %1, Mikro-Batch %2</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="38"/>
        <source>EP 1: every expert is at home and nothing travels.</source>
        <translation>EP 1: jeder Experte ist zu Hause, und nichts wird gesendet.</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="42"/>
        <source>Every rank receives %1 of %2: none has to wait for another.</source>
        <translation>Jeder Rang erhält %1 von %2: keiner muss auf einen anderen warten.</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="44"/>
        <source>Rank %1 receives %2 of %3, %4× the mean: it sets the pace.</source>
        <translation>Rang %1 erhält %2 von %3, %4× das Mittel: er bestimmt das Tempo.</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="55"/>
        <source>Expert %1 on rank %2</source>
        <translation>Experte %1 auf Rang %2</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="57"/>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="58"/>
        <source>%1 of %2 choices</source>
        <translation>%1 von %2 Zuordnungen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="60"/>
        <source>capacity for each home</source>
        <translation>Kapazität je Heimatrang</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="64"/>
        <source>rank %1: %2</source>
        <translation>Rang %1: %2</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="70"/>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="75"/>
        <source>Choices of rank %1 that stay at home</source>
        <translation>Zuordnungen von Rang %1, die zu Hause bleiben</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="76"/>
        <source>Choices sent from rank %1 to rank %2</source>
        <translation>Von Rang %1 an Rang %2 gesendete Zuordnungen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="77"/>
        <source>choices</source>
        <translation>Zuordnungen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="79"/>
        <source>would be</source>
        <translation>wären</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="79"/>
        <source>dispatch and combine, each</source>
        <translation>Dispatch und Combine, je</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="81"/>
        <source>exactly</source>
        <translation>genau</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="105"/>
        <source>Rank %1&apos;s experts take %2; the others wait up to %3, %4 of the layer (%5).</source>
        <translation>Die Experten von Rang %1 brauchen %2; die anderen warten bis zu %3, %4 der Schicht (%5).</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="115"/>
        <source>%1: %2 to %3</source>
        <translation>%1: %2 bis %3</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="118"/>
        <source>Fullest expert over the mean, first to last training step: %1</source>
        <translation>Vollster Experte durch Mittel, erster bis letzter Trainingsschritt: %1</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="126"/>
        <source>hidden for now</source>
        <translation>vorerst verborgen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="132"/>
        <source>rank %1 %2</source>
        <translation>Rang %1 %2</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="134"/>
        <source>not in this layer</source>
        <translation>nicht in dieser Schicht</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="136"/>
        <source>Now: %1; %2 of the dispatch and %3 of the combine are done</source>
        <translation>Jetzt: %1; %2 des Dispatch und %3 des Combine sind fertig</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="143"/>
        <source>expert %1: %2</source>
        <translation>Experte %1: %2</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="146"/>
        <source>and %1 dropped</source>
        <translation>und %1 verworfen</translation>
    </message>
    <message>
        <location filename="../views/expert_words.cpp" line="150"/>
        <source>Balance loss over alpha %1 (1 is even)</source>
        <translation>Ausgleichsverlust durch Alpha %1 (1 ist gleichmäßig)</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <location filename="../figures.cpp" line="98"/>
        <source>%1 bytes</source>
        <translation>%1 Bytes</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="169"/>
        <source>lower bound at peak rates</source>
        <translation>untere Schranke bei Spitzenraten</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="170"/>
        <source>predicted, assumed rates</source>
        <translation>vorhergesagt, angenommene Raten</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="172"/>
        <location filename="../figures.cpp" line="183"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="177"/>
        <source>%1, paced</source>
        <translation>%1, getaktet</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="185"/>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="187"/>
        <source>oversubscribed</source>
        <translation>überbelegt</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="189"/>
        <source>paced</source>
        <translation>getaktet</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="191"/>
        <source>shared GPU</source>
        <translation>geteilte GPU</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="193"/>
        <source>predicted, paced</source>
        <translation>vorhergesagt, getaktet</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="207"/>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="208"/>
        <source>%1 min ago</source>
        <translation>vor %1 min</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="211"/>
        <source>today %1</source>
        <translation>heute %1</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="171"/>
        <source>predicted, published efficiencies</source>
        <translation>vorhergesagt, veröffentlichte Wirkungsgrade</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="199"/>
        <source>1 minute</source>
        <translation>1 Minute</translation>
    </message>
    <message>
        <location filename="../figures.cpp" line="199"/>
        <source>%1 minutes</source>
        <translation>%1 Minuten</translation>
    </message>
</context>
<context>
    <name>glossary</name>
    <message>
        <location filename="../words_sheet.cpp" line="27"/>
        <source>rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="28"/>
        <source>One process that trains together with others; here on a core or a GPU of this computer.</source>
        <translation>Ein Prozess, der mit anderen zusammen trainiert; hier auf einem Kern oder einer GPU dieses Rechners.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="30"/>
        <source>stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="30"/>
        <source>The layers that one rank of a pipeline holds.</source>
        <translation>Die Schichten, die ein Rang einer Pipeline hält.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="31"/>
        <source>micro-batch, m</source>
        <translation>Mikro-Batch, m</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="32"/>
        <source>A part of the batch that goes through the pipeline by itself; m is how many there are.</source>
        <translation>Ein Teil des Batches, der für sich durch die Pipeline geht; m ist ihre Anzahl.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="34"/>
        <source>p</source>
        <translation>p</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="34"/>
        <source>The number of stages of the pipeline.</source>
        <translation>Die Zahl der Stufen der Pipeline.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="35"/>
        <source>training step</source>
        <translation>Trainingsschritt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="36"/>
        <source>All forwards, backwards and one update of the parameters. The timeline shows one of them.</source>
        <translation>Alle Vorwärts- und Rückwärtsläufe und ein Update der Parameter. Die Zeitleiste zeigt einen davon.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="38"/>
        <source>bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="38"/>
        <source>Time in which a rank waits: hatched in the timeline.</source>
        <translation>Zeit, in der ein Rang wartet: in der Zeitleiste schraffiert.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="39"/>
        <source>bubble of whole step</source>
        <translation>Blase am ganzen Schritt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="40"/>
        <source>Waiting divided by the whole step, waiting and work.</source>
        <translation>Warten geteilt durch den ganzen Schritt, Warten und Arbeit.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="41"/>
        <source>bubble over ideal time</source>
        <translation>Blase zur idealen Zeit</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="41"/>
        <source>Waiting divided by work alone.</source>
        <translation>Warten geteilt durch die Arbeit allein.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="42"/>
        <source>naive, GPipe, 1F1B</source>
        <translation>naiv, GPipe, 1F1B</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="43"/>
        <source>Orders of work in a pipeline. Naive: one batch at a time. GPipe: all forwards, then all backwards. 1F1B: one forward, one backward in turn, which keeps fewer micro-batches in memory.</source>
        <translation>Reihenfolgen der Arbeit in einer Pipeline. Naiv: ein Batch nach dem anderen. GPipe: erst alle Vorwärts-, dann alle Rückwärtsläufe. 1F1B: abwechselnd vorwärts und rückwärts, was weniger Mikro-Batches im Speicher hält.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="46"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="47"/>
        <source>Computed from the settings before anything runs, with transfers and waiting.</source>
        <translation>Aus den Einstellungen berechnet, bevor etwas läuft, mit Übertragungen und Warten.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="48"/>
        <source>assumed rates</source>
        <translation>angenommene Raten</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="49"/>
        <source>The prediction uses rates that were not measured here yet; the first run measures this computer.</source>
        <translation>Die Vorhersage benutzt Raten, die hier noch nicht gemessen sind; der erste Lauf vermisst diesen Rechner.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="51"/>
        <source>calibrated</source>
        <translation>kalibriert</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="52"/>
        <source>The prediction uses rates that were measured on this computer.</source>
        <translation>Die Vorhersage benutzt Raten, die auf diesem Rechner gemessen sind.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="53"/>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="54"/>
        <source>Seen in a run whose ranks each had a core or GPU of their own.</source>
        <translation>In einem Lauf gesehen, dessen Ränge je einen eigenen Kern oder eine eigene GPU hatten.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="55"/>
        <source>paced</source>
        <translation>getaktet</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="56"/>
        <source>Seen in a run with more ranks than cores. Arithmetic, messages and waiting are real; how long an operation lasts is set, as if every rank had a device.</source>
        <translation>In einem Lauf mit mehr Rängen als Kernen gesehen. Rechnung, Nachrichten und Warten sind echt; wie lange ein Vorgang dauert, ist gesetzt, als hätte jeder Rang ein Gerät.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="58"/>
        <source>set by pace</source>
        <translation>vom Takt bestimmt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="59"/>
        <source>This time follows from the pace and says nothing about speed, so it is not compared.</source>
        <translation>Diese Zeit folgt aus dem Takt, sagt nichts über Geschwindigkeit und wird darum nicht verglichen.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="61"/>
        <source>oversubscribed</source>
        <translation>überbelegt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="62"/>
        <source>Seen in a run whose ranks shared cores without a pace: its times are no evidence of speed.</source>
        <translation>In einem Lauf gesehen, dessen Ränge sich ohne Takt Kerne teilten: seine Zeiten belegen keine Geschwindigkeit.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="64"/>
        <source>counted</source>
        <translation>gezählt</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="64"/>
        <source>Bytes that the ranks themselves counted while running.</source>
        <translation>Bytes, die die Ränge beim Laufen selbst gezählt haben.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="65"/>
        <source>pt</source>
        <translation>Pkt.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="65"/>
        <source>Percentage points: from 33 % to 35 % is 2 pt.</source>
        <translation>Prozentpunkte: von 33 % auf 35 % sind es 2 Pkt.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="66"/>
        <source>57× slower</source>
        <translation>57× langsamer</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="67"/>
        <source>The screen plays the step that many times slower than it ran.</source>
        <translation>Der Bildschirm spielt den Schritt so viel langsamer ab, als er lief.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="68"/>
        <source>Prove it</source>
        <translation>Beweisen</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="69"/>
        <source>Repeats the run on one rank and compares losses and gradients. Before that, the loss of one rank reads “–”.</source>
        <translation>Wiederholt den Lauf auf einem Rang und vergleicht Verluste und Gradienten. Davor steht beim Verlust eines Rangs „–“.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="71"/>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="72"/>
        <source>Keeps the present run or prediction in the picture, to compare what comes after.</source>
        <translation>Hält den jetzigen Lauf oder die jetzige Vorhersage im Bild, um Späteres damit zu vergleichen.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="74"/>
        <source>DP, TP, PP, CP, EP</source>
        <translation>DP, TP, PP, CP, EP</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="75"/>
        <source>Ways to divide training: data (each rank its own sequences), tensor (each matrix product), pipeline (the layers), context (each sequence), expert (the experts of a mixture).</source>
        <translation>Arten, Training aufzuteilen: Daten (jeder Rang eigene Sequenzen), Tensor (jedes Matrixprodukt), Pipeline (die Schichten), Kontext (jede Sequenz), Experten (die Experten einer Mischung).</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="78"/>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="79"/>
        <source>A pattern in which all ranks of a group exchange data: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, scatter, gather, reduce.</source>
        <translation>Ein Muster, in dem alle Ränge einer Gruppe Daten tauschen: All-Reduce, All-Gather, Reduce-Scatter, All-to-All, Broadcast, Scatter, Gather, Reduce.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="81"/>
        <source>chunk</source>
        <translation>Stück</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="81"/>
        <source>A part of the array that a collective passes on by itself.</source>
        <translation>Ein Teil des Arrays, den ein Kollektiv für sich weitergibt.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="82"/>
        <source>algorithm bandwidth</source>
        <translation>Algorithmusbandbreite</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="83"/>
        <source>Size of the array divided by the time of the collective.</source>
        <translation>Größe des Arrays geteilt durch die Zeit des Kollektivs.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="84"/>
        <source>bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="85"/>
        <source>Algorithm bandwidth times a factor of the operation and the number of ranks, so that it can be compared with the rate of a link.</source>
        <translation>Algorithmusbandbreite mal einem Faktor aus Operation und Zahl der Ränge, damit sie sich mit der Rate einer Verbindung vergleichen lässt.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="87"/>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="88"/>
        <source>Ranks that hold the same parameters share out optimizer state (1), gradients (2) and parameters (3) in place of keeping copies.</source>
        <translation>Ränge mit denselben Parametern teilen Optimiererzustand (1), Gradienten (2) und Parameter (3) unter sich auf, statt Kopien zu halten.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="90"/>
        <source>dispatch, combine</source>
        <translation>Dispatch, Combine</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="91"/>
        <source>The two exchanges of a layer with experts: tokens travel to the ranks of their experts, and the results travel back.</source>
        <translation>Die zwei Austausche einer Schicht mit Experten: Token gehen zu den Rängen ihrer Experten, und die Ergebnisse kommen zurück.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="93"/>
        <source>capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="94"/>
        <source>The most tokens that an expert takes of one micro-batch of one data-parallel rank; what comes later is dropped and passes the layer unchanged.</source>
        <translation>Wie viele Token ein Experte höchstens aus einem Mikro-Batch eines datenparallelen Rangs nimmt; was danach kommt, wird verworfen und geht unverändert durch die Schicht.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="96"/>
        <source>balance loss</source>
        <translation>Ausgleichsverlust</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="97"/>
        <source>A term of the loss that is least when all experts get equally many tokens: α when even.</source>
        <translation>Ein Term des Verlusts, der am kleinsten ist, wenn alle Experten gleich viele Token bekommen: bei gleichmäßiger Verteilung α.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="99"/>
        <source>skew</source>
        <translation>Schiefe</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="100"/>
        <source>The share of the tokens that is sent to expert 0 on purpose, to see what an uneven routing costs.</source>
        <translation>Der Anteil der Token, der absichtlich an Experte 0 geht, um zu sehen, was ein ungleichmäßiges Routing kostet.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="102"/>
        <source>recompute</source>
        <translation>neu rechnen</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="103"/>
        <source>Activations are computed again in the backward in place of being kept.</source>
        <translation>Aktivierungen werden im Rückwärtslauf neu gerechnet, statt gehalten zu werden.</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="104"/>
        <source>loss</source>
        <translation>Verlust</translation>
    </message>
    <message>
        <location filename="../words_sheet.cpp" line="104"/>
        <source>How wrong the model&apos;s predictions of the text are; training makes it smaller.</source>
        <translation>Wie falsch das Modell den Text vorhersagt; Training macht ihn kleiner.</translation>
    </message>
</context>
<context>
    <name>limits</name>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="21"/>
        <source>the bubble of the whole step</source>
        <translation>die Blase am ganzen Schritt</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="22"/>
        <source>the step time</source>
        <translation>die Schrittdauer</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="23"/>
        <source>the micro-batches held at most</source>
        <translation>die höchstens gehaltenen Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="25"/>
        <source>the micro-batches held by stage %1</source>
        <translation>die von Stufe %1 gehaltenen Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="27"/>
        <source>the peak memory of stage %1</source>
        <translation>die Speicherspitze von Stufe %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="28"/>
        <source>the time</source>
        <translation>die Zeit</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="29"/>
        <source>the bus bandwidth</source>
        <translation>die Busbandbreite</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="30"/>
        <source>the share of right results</source>
        <translation>der Anteil richtiger Ergebnisse</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="32"/>
        <source>what a rank sends at most</source>
        <translation>was ein Rang höchstens sendet</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="51"/>
        <source>To pass, %1 must lie between %2 and %3; in this run it is %4.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ zwischen %2 und %3 liegen; in diesem Lauf ist er %4.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="54"/>
        <source>To pass, %1 must be %2; in this run it is %3.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="57"/>
        <source>To pass, %1 must be at least %2; in this run it is %3.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ mindestens %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="58"/>
        <source>To pass, %1 must be at most %2; in this run it is %3.</source>
        <translation>Zum Bestehen darf der Wert für „%1“ höchstens %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_words.cpp" line="129"/>
        <source>You went on with this run: the check is **not met**.</source>
        <translation>Du bist mit diesem Lauf weitergegangen: die Prüfung ist **nicht bestanden**.</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <location filename="../main.cpp" line="61"/>
        <source>A workbench for distributed training: predicted and measured, side by side.</source>
        <translation>Eine Werkbank für verteiltes Training: vorhergesagt und gemessen nebeneinander.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="63"/>
        <source>A document, a setup, or a picture exported from here.</source>
        <translation>Ein Dokument, Einstellungen oder ein von hier exportiertes Bild.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="72"/>
        <source>Write a picture of the whole window.</source>
        <translation>Ein Bild des ganzen Fensters schreiben.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="74"/>
        <source>Open this setup or document.</source>
        <translation>Diese Einstellungen oder dieses Dokument öffnen.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="76"/>
        <source>Run the setup first.</source>
        <translation>Die Einstellungen zuerst laufen lassen.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="78"/>
        <source>Run it, and prove it on one rank.</source>
        <translation>Laufen lassen und auf einem Rang beweisen.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="79"/>
        <source>Logical size of the picture.</source>
        <translation>Logische Größe des Bildes.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="82"/>
        <source>Pixels per logical pixel: 0.5 to 8.</source>
        <translation>Pixel je logischem Pixel: 0.5 bis 8.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="96"/>
        <source>Show the moment at this share of the step, 0 to 1.</source>
        <translation>Den Augenblick bei diesem Anteil des Schritts zeigen, 0 bis 1.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="101"/>
        <source>Collectives view, what chunks show: contributions, values or bits.</source>
        <translation>Kollektivansicht, was Stücke zeigen: contributions (Beiträge), values (Werte) oder bits.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="106"/>
        <source>Collectives view: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, scatter, gather or reduce.</source>
        <translation>Kollektivansicht: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, scatter, gather oder reduce.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="108"/>
        <source>Collectives view: ring, direct, ... of that collective.</source>
        <translation>Kollektivansicht: ring, direct, ... dieses Kollektivs.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="109"/>
        <source>Collectives view: 1 to 16 ranks.</source>
        <translation>Kollektivansicht: 1 bis 16 Ränge.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="110"/>
        <source>Collectives view: size of the array, such as 4MiB.</source>
        <translation>Kollektivansicht: Größe des Arrays, etwa 4MiB.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="111"/>
        <source>Collectives view: root of broadcast, scatter, gather, reduce.</source>
        <translation>Kollektivansicht: Wurzel von broadcast, scatter, gather, reduce.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="112"/>
        <source>Collectives view: float32, float64, bfloat16 or int32.</source>
        <translation>Kollektivansicht: float32, float64, bfloat16 oder int32.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="113"/>
        <source>Collectives view: sum, prod, min, max or avg.</source>
        <translation>Kollektivansicht: sum, prod, min, max oder avg.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="114"/>
        <source>Collectives view: memory (this computer), switch, ring, torus or two-level.</source>
        <translation>Kollektivansicht: memory (dieser Rechner), switch, ring, torus oder two-level.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="116"/>
        <source>Collectives view: of a link, such as 2us; not of this computer.</source>
        <translation>Kollektivansicht: einer Verbindung, etwa 2us; nicht bei diesem Rechner.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="117"/>
        <source>Collectives view: of a link, such as 50GB/s.</source>
        <translation>Kollektivansicht: einer Verbindung, etwa 50GB/s.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="84"/>
        <source>Dark colours.</source>
        <translation>Dunkle Farben.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="85"/>
        <source>light or dark.</source>
        <translation>light (hell) oder dark (dunkel).</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="88"/>
        <source>mesh, collectives, pipeline, memory or experts.</source>
        <translation>mesh, collectives, pipeline, memory oder experts.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="91"/>
        <source>Show this help.</source>
        <translation>Diese Hilfe zeigen.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="92"/>
        <source>Show the version.</source>
        <translation>Die Version zeigen.</translation>
    </message>
    <message>
        <location filename="../main.cpp" line="67"/>
        <source>Write a view as .png .svg .pdf, or the timeline as Chrome trace .json or .csv, without a window.</source>
        <translation>Eine Ansicht als .png .svg .pdf oder die Zeitleiste als Chrome-Trace .json oder .csv schreiben, ohne Fenster.</translation>
    </message>
</context>
<context>
    <name>memory</name>
    <message>
        <location filename="../views/memory_curve.cpp" line="77"/>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="78"/>
        <source>forward and backward in turn</source>
        <translation>vorwärts und rückwärts im Wechsel</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="79"/>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="80"/>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="87"/>
        <source>peak %1</source>
        <translation>Spitze %1</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="91"/>
        <source>pinned %1</source>
        <translation>angeheftet %1</translation>
    </message>
    <message>
        <location filename="../views/memory_curve.cpp" line="92"/>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="25"/>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="27"/>
        <source>Gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="29"/>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="31"/>
        <source>Activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="33"/>
        <source>Buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="41"/>
        <source>Rank %1 · stage %2</source>
        <translation>Rang %1 · Stufe %2</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="173"/>
        <source>16-bit</source>
        <translation>16 Bit</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="174"/>
        <source>fp32</source>
        <translation>fp32</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="175"/>
        <source>8-bit</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="176"/>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="180"/>
        <source>Parameters, %1</source>
        <translation>Parameter, %1</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="182"/>
        <source>Gradients, %1</source>
        <translation>Gradienten, %1</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="184"/>
        <source>Master, %1</source>
        <translation>Masterkopie, %1</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="186"/>
        <source>Two moments, %1</source>
        <translation>Zwei Momente, %1</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="224"/>
        <source>%1 → next, %2</source>
        <translation>%1 → nächste, %2</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="225"/>
        <source>%1 of %2, %3</source>
        <translation>%1 von %2, %3</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="242"/>
        <source>m · b s h</source>
        <translation>m · b s h</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="243"/>
        <source>%1 calls, each one micro-batch of the residual stream</source>
        <translation>%1 Aufrufe, jeder ein Mikro-Batch des Residualstroms</translation>
    </message>
    <message>
        <location filename="../views/memory_data.cpp" line="262"/>
        <source>N = %1; %2 = %3; %4 calls. A rank&apos;s share differs by the element that is left over; over the group the sum is exact.</source>
        <translation>N = %1; %2 = %3; %4 Aufrufe. Der Anteil eines Rangs weicht um das übrige Element ab; über die Gruppe ist die Summe genau.</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="110"/>
        <source>Unexplained</source>
        <translation>Unerklärt</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="255"/>
        <source>pinned %1 (%2)</source>
        <translation>angeheftet %1 (%2)</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="263"/>
        <source>predicted %1 (%2)</source>
        <translation>vorhergesagt %1 (%2)</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="269"/>
        <source>counted %1 (%2)</source>
        <translation>gezählt %1 (%2)</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="272"/>
        <source>equal to the byte, in every category</source>
        <translation>bytegenau gleich, in jeder Kategorie</translation>
    </message>
    <message>
        <location filename="../views/memory_paint.cpp" line="273"/>
        <source>difference %1</source>
        <translation>Unterschied %1</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="66"/>
        <source>held from start to end</source>
        <translation>gehalten von Anfang bis Ende</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="72"/>
        <source>held for %1, from %2 to %3</source>
        <translation>gehalten für %1, von %2 bis %3</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="88"/>
        <source>Optimizer state</source>
        <translation>Optimiererzustand</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="94"/>
        <source>a shard of all layers of the rank</source>
        <translation>ein Teil aller Schichten des Rangs</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="98"/>
        <source>%1 of layer %2</source>
        <translation>%1 von Schicht %2</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="99"/>
        <source>%1 of tables and final norm</source>
        <translation>%1 von Tabellen und letzter Norm</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="187"/>
        <source>a program of this size keeps the activations of a whole stage as one tensor</source>
        <translation>ein Programm dieser Größe hält die Aktivierungen einer ganzen Stufe als einen Tensor</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="197"/>
        <source>activations are fp32, 4 bytes where the paper counts 2</source>
        <translation>Aktivierungen sind fp32, 4 Bytes, wo der Artikel 2 zählt</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="199"/>
        <source>there is no dropout: its masks and outputs are not kept</source>
        <translation>es gibt kein Dropout: seine Masken und Ausgaben werden nicht gehalten</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="200"/>
        <source>fused attention keeps no scores</source>
        <translation>verschmolzene Attention hält keine Bewertungen</translation>
    </message>
    <message>
        <location filename="../views/memory_parts.cpp" line="202"/>
        <source>the statistics of the norms are kept, which the paper leaves out</source>
        <translation>die Statistiken der Normen werden gehalten, die der Artikel auslässt</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="22"/>
        <source>Memory per rank</source>
        <translation>Speicher je Rang</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="22"/>
        <location filename="../views/memory_shown.cpp" line="114"/>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="24"/>
        <source>%1 data-parallel ranks</source>
        <translation>%1 datenparallele Ränge</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="26"/>
        <source>%1 parameters</source>
        <translation>%1 Parameter</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="59"/>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="128"/>
        <source>ZERO STAGES · PREDICTED, AND COUNTED IN THE RUN</source>
        <translation>ZERO-STUFEN · VORHERGESAGT UND IM LAUF GEZÄHLT</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="129"/>
        <source>ZERO STAGES · PREDICTED</source>
        <translation>ZERO-STUFEN · VORHERGESAGT</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="132"/>
        <source>ONE RANK OF EVERY STAGE</source>
        <translation>EIN RANG JEDER STUFE</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="133"/>
        <source>EVERY RANK</source>
        <translation>JEDER RANG</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="134"/>
        <source>PREDICTED, AND COUNTED IN THE RUN</source>
        <translation>VORHERGESAGT UND IM LAUF GEZÄHLT</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="134"/>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="143"/>
        <source>MEMORY OVER ONE STEP</source>
        <translation>SPEICHER ÜBER EINEN SCHRITT</translation>
    </message>
    <message>
        <location filename="../views/memory_shown.cpp" line="144"/>
        <source>%1, sizes counted</source>
        <translation>%1, Größen gezählt</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="31"/>
        <source>B PER PARAMETER</source>
        <translation>B JE PARAMETER</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="33"/>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="34"/>
        <source>on this rank</source>
        <translation>auf diesem Rang</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="53"/>
        <source>%1 / N</source>
        <translation>%1 / N</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="59"/>
        <source>Together %1</source>
        <translation>Zusammen %1</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="70"/>
        <source>SENT PER STEP AND RANK</source>
        <translation>GESENDET JE SCHRITT UND RANG</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="74"/>
        <source>nothing: one rank has nobody to send to</source>
        <translation>nichts: ein einzelner Rang hat keinen Empfänger</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="107"/>
        <source>%1 further kinds: %2</source>
        <translation>%1 weitere Arten: %2</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="114"/>
        <source>predicted, not counted yet</source>
        <translation>vorhergesagt, noch nicht gezählt</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="115"/>
        <source>counted by the engine: equal to the byte</source>
        <translation>von der Engine gezählt: bytegenau gleich</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="116"/>
        <source>counted by the engine: it differs</source>
        <translation>von der Engine gezählt: es weicht ab</translation>
    </message>
    <message>
        <location filename="../views/memory_tables.cpp" line="106"/>
        <source>%1 further kind: %2</source>
        <translation>%1 weitere Art: %2</translation>
    </message>
</context>
<context>
    <name>mesh</name>
    <message>
        <location filename="../views/mesh_data.cpp" line="25"/>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="55"/>
        <source>all ranks</source>
        <translation>alle Ränge</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="68"/>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="79"/>
        <location filename="../views/mesh_picture.cpp" line="36"/>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="172"/>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="258"/>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="263"/>
        <source>one rank in %1</source>
        <translation>ein Rang in %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="264"/>
        <source>%1 ranks in %2</source>
        <translation>%1 Ränge in %2</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="268"/>
        <source>%1 from rank %2 to rank %3</source>
        <translation>%1 von Rang %2 zu Rang %3</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="274"/>
        <source>%1 further messages</source>
        <translation>%1 weitere Nachrichten</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="275"/>
        <source>nobody sends</source>
        <translation>niemand sendet</translation>
    </message>
    <message>
        <location filename="../views/mesh_data.cpp" line="276"/>
        <source>At %1: %2.</source>
        <translation>Bei %1: %2.</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="174"/>
        <location filename="../views/mesh_paint.cpp" line="212"/>
        <source>Stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="176"/>
        <source>%1, layers %2</source>
        <translation>%1, Schichten %2</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="213"/>
        <source>%1 ranks alike</source>
        <translation>%1 gleiche Ränge</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="214"/>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="215"/>
        <source>%1 at most</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_paint.cpp" line="216"/>
        <source>sent %1</source>
        <translation>gesendet %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="35"/>
        <source>One rank</source>
        <translation>Ein Rang</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="44"/>
        <source>ranks count TP, CP, DP, then PP (Megatron&apos;s default)</source>
        <translation>Ränge zählen TP, CP, DP, dann PP (Vorgabe von Megatron)</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="45"/>
        <source>ranks count TP, CP, PP, then DP (the lecture notes&apos; order)</source>
        <translation>Ränge zählen TP, CP, PP, dann DP (Ordnung des Skripts)</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="66"/>
        <source>a card stands for equal ranks</source>
        <translation>eine Karte steht für gleiche Ränge</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="67"/>
        <source>links redden with the bytes of a step</source>
        <translation>Verbindungen röten sich mit den Bytes eines Schritts</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="68"/>
        <source>links redden with the bytes so far</source>
        <translation>Verbindungen röten sich mit den Bytes bis jetzt</translation>
    </message>
    <message>
        <location filename="../views/mesh_picture.cpp" line="69"/>
        <source>times %1</source>
        <translation>Zeiten %1</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="104"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="105"/>
        <source>predicted, and counted to the byte</source>
        <translation>vorhergesagt und bytegenau gezählt</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="106"/>
        <source>predicted, %1 counted</source>
        <translation>vorhergesagt, %1 gezählt</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="112"/>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="114"/>
        <location filename="../views/rank_list.cpp" line="116"/>
        <source>most memory</source>
        <translation>meister Speicher</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="119"/>
        <location filename="../views/rank_list.cpp" line="121"/>
        <source>sends in a step</source>
        <translation>sendet im Schritt</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="124"/>
        <source>%1 group</source>
        <translation>%1-Gruppe</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="125"/>
        <source>ITS GROUPS</source>
        <translation>SEINE GRUPPEN</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="129"/>
        <source>once</source>
        <translation>einmal</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="129"/>
        <source>%1 times</source>
        <translation>%1-mal</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="130"/>
        <source>to rank %1</source>
        <translation>an Rang %1</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="131"/>
        <source>in its %1 group</source>
        <translation>in seiner %1-Gruppe</translation>
    </message>
    <message>
        <location filename="../views/rank_list.cpp" line="135"/>
        <source>WHAT IT SENDS IN A STEP</source>
        <translation>WAS ER IN EINEM SCHRITT SENDET</translation>
    </message>
</context>
<context>
    <name>parallelarium::AllSettings</name>
    <message>
        <location filename="../all_settings.cpp" line="44"/>
        <source>All settings</source>
        <translation>Alle Einstellungen</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="61"/>
        <source>Batch and model</source>
        <translation>Batch und Modell</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="63"/>
        <source>&amp;Micro-batch size</source>
        <translation>&amp;Mikro-Batch-Größe</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="64"/>
        <source>Se&amp;quence</source>
        <translation>Se&amp;quenz</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="69"/>
        <source>%1 (%2 bytes)</source>
        <translation>%1 (%2 Bytes)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="70"/>
        <source>&amp;Precision</source>
        <translation>&amp;Genauigkeit</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="71"/>
        <source>&amp;Attention</source>
        <translation>&amp;Attention</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="72"/>
        <source>unfused: keeps the scores</source>
        <translation>einzeln: hält die Bewertungen</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="73"/>
        <source>fused: computes them again</source>
        <translation>verschmolzen: rechnet sie neu</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="74"/>
        <source>&amp;Dropout</source>
        <translation>&amp;Dropout</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="75"/>
        <source>&amp;Learning rate</source>
        <translation>&amp;Lernrate</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="76"/>
        <source>Gradient &amp;clip (0: none)</source>
        <translation>Gradienten &amp;kappen (0: nicht)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="78"/>
        <source>Parallelism</source>
        <translation>Parallelität</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="79"/>
        <source>C&amp;hunks per rank</source>
        <translation>&amp;Stücke je Rang</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="80"/>
        <source>Context &amp;kind</source>
        <translation>A&amp;rt der Kontextteilung</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="81"/>
        <source>ring</source>
        <translation>Ring</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="82"/>
        <source>all-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="83"/>
        <source>Ulysses</source>
        <translation>Ulysses</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="84"/>
        <source>ZeRO &amp;group (0: all of DP)</source>
        <translation>&amp;ZeRO-Gruppe (0: ganzes DP)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="85"/>
        <source>&amp;Nodes (0: as needed)</source>
        <translation>K&amp;noten (0: nach Bedarf)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="87"/>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="91"/>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="92"/>
        <source>&amp;Backend</source>
        <translation>&amp;Backend</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="93"/>
        <source>auto</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="94"/>
        <source>CPU, unpaced</source>
        <translation>CPU, ungetaktet</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="95"/>
        <source>CPU, paced</source>
        <translation>CPU, getaktet</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="96"/>
        <source>CUDA</source>
        <translation>CUDA</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="97"/>
        <source>Pac&amp;e, seconds a forward</source>
        <translation>&amp;Takt, Sekunden je Vorwärtslauf</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="98"/>
        <source>&amp;Timed steps</source>
        <translation>Ge&amp;messene Schritte</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="99"/>
        <source>&amp;Warm-up steps</source>
        <translation>&amp;Anlaufschritte</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="100"/>
        <source>Seed (&amp;x)</source>
        <translation>Startwert (&amp;x)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="114"/>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="115"/>
        <source>Experts of a layer</source>
        <translation>Experten einer Schicht</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="116"/>
        <source>Experts a token visits (top-k)</source>
        <translation>Besuchte Experten je Token (Top-k)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="117"/>
        <source>Shared, visited by all</source>
        <translation>Geteilte, von allen besucht</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="118"/>
        <source>Inner width of an expert</source>
        <translation>Innere Breite eines Experten</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="119"/>
        <source>First layers without</source>
        <translation>Erste Schichten ohne</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="120"/>
        <source>Router</source>
        <translation>Router</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="121"/>
        <source>softmax: affinities sum to 1</source>
        <translation>Softmax: Affinitäten in Summe 1</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="122"/>
        <source>sigmoid: each by itself</source>
        <translation>Sigmoid: jede für sich</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="123"/>
        <source>Capacity factor (0: dropless)</source>
        <translation>Kapazitätsfaktor (0: dropless)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="124"/>
        <source>Groups of experts (0: none)</source>
        <translation>Expertengruppen (0: keine)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="125"/>
        <source>Groups a token may use</source>
        <translation>Erlaubte Gruppen je Token</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="126"/>
        <source>Balance loss, α (0: none)</source>
        <translation>Ausgleichsverlust, α (0: keiner)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="127"/>
        <source>Router z-loss (0: none)</source>
        <translation>Router-z-Verlust (0: keiner)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="128"/>
        <source>Bias ±γ per step (0: none)</source>
        <translation>Bias ±γ je Schritt (0: keiner)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="129"/>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="130"/>
        <source>neighbours: 0 1, 2 3, ...</source>
        <translation>Nachbarn: 0 1, 2 3, ...</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="131"/>
        <source>in turn: 0 4, 1 5, ...</source>
        <translation>reihum: 0 4, 1 5, ...</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="132"/>
        <source>Skew, share sent to expert 0</source>
        <translation>Schiefe, Anteil an Experte 0</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="161"/>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="207"/>
        <source>Te&amp;xt</source>
        <translation>Te&amp;xt</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="210"/>
        <source>Text to train on</source>
        <translation>Text zum Trainieren</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="210"/>
        <source>Text (*)</source>
        <translation>Text (*)</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="215"/>
        <source>simple English, made here</source>
        <translation>einfaches Englisch, hier erzeugt</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="218"/>
        <source>Text to train on: %1</source>
        <translation>Text zum Trainieren: %1</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="229"/>
        <source>Algorithm of %1</source>
        <translation>Algorithmus von %1</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="230"/>
        <source>the transport&apos;s own</source>
        <translation>der des Transports</translation>
    </message>
    <message>
        <location filename="../all_settings.cpp" line="256"/>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::CollectivesView</name>
    <message>
        <location filename="../views/collective_controls.cpp" line="73"/>
        <source>Operation</source>
        <translation>Operation</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="87"/>
        <source>Algorithm</source>
        <translation>Algorithmus</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="102"/>
        <location filename="../views/collective_controls.cpp" line="155"/>
        <source>Ranks</source>
        <translation>Ränge</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="119"/>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="127"/>
        <source>Size of the array</source>
        <translation>Größe des Arrays</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="140"/>
        <location filename="../views/collective_controls.cpp" line="157"/>
        <source>Root</source>
        <translation>Wurzel</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="151"/>
        <source>Root %1</source>
        <translation>Wurzel %1</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="156"/>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="158"/>
        <source>Type of the elements</source>
        <translation>Typ der Elemente</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="166"/>
        <source>How contributions are combined</source>
        <translation>Wie Beiträge verknüpft werden</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="175"/>
        <source>Links between the ranks</source>
        <translation>Verbindungen zwischen den Rängen</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="186"/>
        <source>What chunks show</source>
        <translation>Was Stücke zeigen</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="187"/>
        <source>Contributions</source>
        <translation>Beiträge</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="188"/>
        <source>Whose contributions are in each chunk</source>
        <translation>Wessen Beiträge in jedem Stück sind</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="189"/>
        <source>Values</source>
        <translation>Werte</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="190"/>
        <source>The first number of each chunk, from the run</source>
        <translation>Die erste Zahl jedes Stücks, aus dem Lauf</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="191"/>
        <source>Last bits</source>
        <translation>Letzte Bits</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="192"/>
        <source>How many elements of the run&apos;s result differ from those of another algorithm, both on the same inexact inputs</source>
        <translation>Wie viele Elemente im Ergebnis des Laufs von denen eines anderen Algorithmus abweichen, beide mit denselben ungenauen Eingaben</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="195"/>
        <source>Picture or table</source>
        <translation>Bild oder Tabelle</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="196"/>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="197"/>
        <source>Moves</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="197"/>
        <source>Every move, as a table</source>
        <translation>Jede Bewegung, als Tabelle</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="201"/>
        <source>Collectives: &amp;moves as a table</source>
        <translation>Kollektive: Bewegungen &amp;als Tabelle</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="202"/>
        <source>Collectives: &amp;values of the run</source>
        <translation>Kollektive: Werte &amp;des Laufs</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="203"/>
        <source>Collectives: &amp;last bits against another algorithm</source>
        <translation>Kollektive: letzte Bits gegen anderen Algorit&amp;hmus</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="204"/>
        <source>Collectives: all-reduce as reduce-scatter and all-&amp;gather</source>
        <translation>Kollektive: All-Reduce als Redu&amp;ce-Scatter und All-Gather</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="205"/>
        <source>Collectives: measure every si&amp;ze</source>
        <translation>Kollektive: &amp;jede Größe messen</translation>
    </message>
    <message>
        <location filename="../views/collective_controls.cpp" line="206"/>
        <source>Run the algorithms of the plot at sizes from 4 KiB to 64 MiB</source>
        <translation>Die Algorithmen des Diagramms mit Größen von 4 KiB bis 64 MiB laufen lassen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="86"/>
        <source>Latency between nodes</source>
        <translation>Latenz zwischen Knoten</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="86"/>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="87"/>
        <source>Bandwidth of a node</source>
        <translation>Bandbreite eines Knotens</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="88"/>
        <source>Bandwidth</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="99"/>
        <source>nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="111"/>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="111"/>
        <source>%1 as assumed</source>
        <translation>%1 wie angenommen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="127"/>
        <source>An empty text takes the assumed figure again</source>
        <translation>Ein leerer Text nimmt wieder den angenommenen Wert</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="128"/>
        <source>Measured by the last calibration of this computer; choose other links to set theirs</source>
        <translation>Beim letzten Kalibrieren dieses Rechners gemessen; wähle andere Verbindungen, um deren Werte zu setzen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="130"/>
        <source>Figures of this computer, assumed until it is calibrated, which the first Run of a training step does; choose other links to set theirs</source>
        <translation>Werte dieses Rechners, angenommen, bis er kalibriert ist, was das erste „Starten“ eines Trainingsschritts tut; wähle andere Verbindungen, um deren Werte zu setzen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="142"/>
        <source>%1, %2, calibrated</source>
        <translation>%1, %2, kalibriert</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="142"/>
        <source>%1, %2, assumed</source>
        <translation>%1, %2, angenommen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="145"/>
        <source>assumed</source>
        <translation>angenommen</translation>
    </message>
    <message>
        <location filename="../views/collective_links.cpp" line="146"/>
        <source>set here</source>
        <translation>hier gesetzt</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="19"/>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="22"/>
        <source>Picture of the collective</source>
        <translation>Bild des Kollektivs</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="26"/>
        <source>Moves of the collective</source>
        <translation>Bewegungen des Kollektivs</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="37"/>
        <source>measure</source>
        <translation>messen</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="39"/>
        <source>Measure the bandwidth of every size</source>
        <translation>Die Bandbreite jeder Größe messen</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="135"/>
        <source>Values are those of a run; press Run first</source>
        <translation>Werte sind die eines Laufs; drücke erst „Starten“</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="179"/>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="180"/>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="181"/>
        <source>To</source>
        <translation>An</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="182"/>
        <source>Chunk</source>
        <translation>Stück</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="183"/>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="184"/>
        <source>There</source>
        <translation>Dort</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="185"/>
        <source>Predicted begin</source>
        <translation>Beginn vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="186"/>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="187"/>
        <source>Waited</source>
        <translation>Gewartet</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="202"/>
        <location filename="../views/collectives_view.cpp" line="203"/>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="206"/>
        <source>combined</source>
        <translation>verknüpft</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="206"/>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="255"/>
        <source>%1: verified cell by cell. </source>
        <translation>%1: Zelle für Zelle geprüft. </translation>
    </message>
    <message>
        <location filename="../views/collectives_view.cpp" line="256"/>
        <source>%1 cells are wrong. </source>
        <translation>%1 Zellen sind falsch. </translation>
    </message>
</context>
<context>
    <name>parallelarium::Doctor</name>
    <message>
        <location filename="../doctor.cpp" line="37"/>
        <source>Doctor</source>
        <translation>Diagnose</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="40"/>
        <source>Asking the engine what this computer has …</source>
        <translation>Die Engine wird gefragt, was dieser Rechner hat …</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="52"/>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="68"/>
        <source>%1: %2, %3 cores, %4 memory</source>
        <translation>%1: %2, %3 Kerne, %4 Speicher</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="73"/>
        <location filename="../doctor.cpp" line="76"/>
        <location filename="../doctor.cpp" line="85"/>
        <location filename="../doctor.cpp" line="97"/>
        <source>there</source>
        <translation>vorhanden</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="73"/>
        <source>Engine program</source>
        <translation>Engine-Programm</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="76"/>
        <location filename="../doctor.cpp" line="85"/>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="76"/>
        <source>Calibration</source>
        <translation>Kalibrierung</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="78"/>
        <source>never made: rates are assumed</source>
        <translation>nie gemacht: Raten sind angenommen</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="80"/>
        <source>The first run measures this computer, or Run, Calibrate.</source>
        <translation>Der erste Lauf vermisst diesen Rechner, oder Starten, Kalibrieren.</translation>
    </message>
    <message>
        <location filename="../doctor.cpp" line="86"/>
        <source>Backend %1</source>
        <translation>Backend %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::EngineProcess</name>
    <message>
        <location filename="../engine_process.cpp" line="78"/>
        <source>killed by signal %1</source>
        <translation>von Signal %1 beendet</translation>
    </message>
    <message>
        <location filename="../engine_process.cpp" line="79"/>
        <source>exit status %1</source>
        <translation>Rückgabewert %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::ExpertsView</name>
    <message>
        <location filename="../views/expert_controls.cpp" line="53"/>
        <location filename="../views/expert_controls.cpp" line="54"/>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="55"/>
        <location filename="../views/expert_controls.cpp" line="56"/>
        <source>Micro-batch</source>
        <translation>Mikro-Batch</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="57"/>
        <location filename="../views/expert_controls.cpp" line="58"/>
        <source>EP group</source>
        <translation>EP-Gruppe</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="59"/>
        <source>Whose counts are drawn</source>
        <translation>Wessen Zahlen gezeichnet werden</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="60"/>
        <source>run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="60"/>
        <source>What the run counted</source>
        <translation>Was der Lauf gezählt hat</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="61"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="62"/>
        <source>What the prediction assumes: even but for the skew</source>
        <translation>Was die Vorhersage annimmt: gleichmäßig bis auf die Schiefe</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="69"/>
        <source>Counts</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="71"/>
        <source>Training step of the run</source>
        <translation>Trainingsschritt des Laufs</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="85"/>
        <source>[ and ] in the picture go to the step before and the next</source>
        <translation>[ und ] gehen im Bild zum vorigen und zum nächsten Schritt</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="86"/>
        <source>Training step</source>
        <translation>Trainingsschritt</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="89"/>
        <location filename="../views/expert_controls.cpp" line="95"/>
        <source>Placement of the experts</source>
        <translation>Platzierung der Experten</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="90"/>
        <source>neighbours</source>
        <translation>Nachbarn</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="90"/>
        <source>A rank holds neighbours: 0 1, 2 3, ...</source>
        <translation>Ein Rang hält Nachbarn: 0 1, 2 3, ...</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="91"/>
        <source>in turn</source>
        <translation>reihum</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="92"/>
        <source>Ranks take turns: 0 and 4, 1 and 5, ...</source>
        <translation>Die Ränge wechseln sich ab: 0 und 4, 1 und 5, ...</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="100"/>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="104"/>
        <source>Skew: share of the tokens that is sent to expert 0 on purpose</source>
        <translation>Schiefe: Anteil der Token, der absichtlich an Experte 0 geht</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="107"/>
        <location filename="../views/expert_controls.cpp" line="109"/>
        <source>Skew</source>
        <translation>Schiefe</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="135"/>
        <source>of %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="142"/>
        <source>even</source>
        <translation>gleichmäßig</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="143"/>
        <source>one hot expert</source>
        <translation>alle an Experte 0</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="159"/>
        <source>Choose %1</source>
        <translation>%1 wählen</translation>
    </message>
    <message>
        <location filename="../views/expert_controls.cpp" line="162"/>
        <source>Model %1</source>
        <translation>Modell %1</translation>
    </message>
    <message>
        <location filename="../views/experts_view.cpp" line="33"/>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <location filename="../views/experts_view.cpp" line="36"/>
        <source>Picture of the routing</source>
        <translation>Bild des Routings</translation>
    </message>
    <message>
        <location filename="../views/experts_view.cpp" line="79"/>
        <source>These settings are not valid: there is no routing to show yet.</source>
        <translation>Diese Einstellungen sind nicht gültig: es gibt noch kein Routing zu zeigen.</translation>
    </message>
    <message>
        <location filename="../views/experts_view.cpp" line="81"/>
        <source>%1 has no experts: all tokens take the same way.</source>
        <translation>%1 hat keine Experten: alle Token nehmen denselben Weg.</translation>
    </message>
    <message>
        <location filename="../views/experts_view.cpp" line="83"/>
        <source>Routing the tokens</source>
        <translation>Die Token werden geroutet</translation>
    </message>
</context>
<context>
    <name>parallelarium::ExportDialog</name>
    <message>
        <location filename="../export_dialog.cpp" line="15"/>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="21"/>
        <source>Picture: PNG, can be opened again here</source>
        <translation>Bild: PNG, lässt sich hier wieder öffnen</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="22"/>
        <source>Picture: SVG</source>
        <translation>Bild: SVG</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="23"/>
        <source>Picture: PDF</source>
        <translation>Bild: PDF</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="25"/>
        <source>Collective: steps, costs and run (JSON)</source>
        <translation>Kollektiv: Schritte, Kosten und Lauf (JSON)</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="26"/>
        <source>Timeline: Chrome trace JSON, for Perfetto</source>
        <translation>Zeitleiste: Chrome-Trace-JSON, für Perfetto</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="27"/>
        <source>Collective: table of moves (CSV)</source>
        <translation>Kollektiv: Tabelle der Bewegungen (CSV)</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="28"/>
        <source>Timeline: table (CSV)</source>
        <translation>Zeitleiste: Tabelle (CSV)</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="31"/>
        <source>&amp;Format</source>
        <translation>&amp;Format</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="33"/>
        <source>%1×</source>
        <translation>%1×</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="35"/>
        <source>&amp;Scale</source>
        <translation>&amp;Maßstab</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="37"/>
        <source>light</source>
        <translation>hell</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="38"/>
        <source>dark</source>
        <translation>dunkel</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="40"/>
        <source>&amp;Colours</source>
        <translation>Far&amp;ben</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="41"/>
        <source>Only the &amp;visible time</source>
        <translation>Nur die &amp;sichtbare Zeit</translation>
    </message>
    <message>
        <location filename="../export_dialog.cpp" line="45"/>
        <source>&amp;Save …</source>
        <translation>&amp;Speichern …</translation>
    </message>
</context>
<context>
    <name>parallelarium::HeldPlot</name>
    <message>
        <location filename="../views/held_plot.cpp" line="41"/>
        <source>Micro-batches held per stage</source>
        <translation>Gehaltene Mikro-Batches je Stufe</translation>
    </message>
    <message>
        <location filename="../views/held_plot.cpp" line="102"/>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <location filename="../views/held_plot.cpp" line="105"/>
        <source>stage %1 at most %2</source>
        <translation>Stufe %1 höchstens %2</translation>
    </message>
    <message>
        <location filename="../views/held_plot.cpp" line="106"/>
        <source>Micro-batches held, %1: %2.</source>
        <translation>Gehaltene Mikro-Batches, %1: %2.</translation>
    </message>
    <message>
        <location filename="../views/held_plot.cpp" line="148"/>
        <source>Held at %1, %2</source>
        <translation>Gehalten bei %1, %2</translation>
    </message>
    <message>
        <location filename="../views/held_plot.cpp" line="153"/>
        <source>stage %1: %2</source>
        <translation>Stufe %1: %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonIndex</name>
    <message>
        <location filename="../lesson/lesson_index.cpp" line="88"/>
        <location filename="../lesson/lesson_index.cpp" line="93"/>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_index.cpp" line="101"/>
        <source>Start</source>
        <translation>Beginnen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_index.cpp" line="135"/>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_index.cpp" line="157"/>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPanel</name>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="43"/>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="97"/>
        <source>Who computes what, when</source>
        <translation>Wer rechnet was, wann</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="99"/>
        <source>Each row of the picture is one **rank**, and each bar is one micro-batch passing forward or backward through that rank&apos;s layers. Hatched time is **idle**.

This is the prediction for the settings shown. Press **Run** and real ranks train that way: what was observed appears below it.

Turn any setting, or let a lesson lead you: **Lessons** above lists them all.</source>
        <translation>Jede Zeile des Bildes ist ein **Rang**, jeder Balken ein Mikro-Batch, der vorwärts oder rückwärts durch die Schichten dieses Rangs geht. Schraffierte Zeit ist **untätig**.

Das ist die Vorhersage für die gezeigten Einstellungen. Drücke **Starten**, und echte Ränge trainieren so: was beobachtet wurde, erscheint darunter.

Drehe an einer Einstellung oder lass dich von einer Lektion führen: **Lektionen** oben listet alle auf.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="121"/>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="129"/>
        <source>All lessons</source>
        <translation>Alle Lektionen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="150"/>
        <source>Your answer %1</source>
        <translation>Deine Antwort %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="203"/>
        <source>**Hint %1.** %2</source>
        <translation>**Tipp %1.** %2</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="222"/>
        <source>✓ Right</source>
        <translation>✓ Richtig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="224"/>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="224"/>
        <source>Not quite</source>
        <translation>Nicht ganz</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="267"/>
        <source>Start the lesson</source>
        <translation>Lektion beginnen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="301"/>
        <location filename="../lesson/lesson_panel_layout.cpp" line="197"/>
        <source>Hint</source>
        <translation>Tipp</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="301"/>
        <source>Next hint</source>
        <translation>Nächster Tipp</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="270"/>
        <source>Finish</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="270"/>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="273"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="273"/>
        <source>▶ Run</source>
        <translation>▶ Starten</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="276"/>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="278"/>
        <source>Commit</source>
        <translation>Festlegen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="80"/>
        <source>Reset the lesson</source>
        <translation>Lektion zurücksetzen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="81"/>
        <source>Start “%1” again? Your answers to it are cleared and its numbers may change.</source>
        <translation>„%1“ neu beginnen? Deine Antworten dazu werden gelöscht, und ihre Zahlen können sich ändern.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="96"/>
        <location filename="../lesson/lesson_panel_course.cpp" line="100"/>
        <source>Export my answers</source>
        <translation>Meine Antworten exportieren</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="96"/>
        <source>Your name</source>
        <translation>Dein Name</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="103"/>
        <source>JSON files (*.json)</source>
        <translation>JSON-Dateien (*.json)</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="111"/>
        <source>%1 could not be written: %2.</source>
        <translation>%1 konnte nicht geschrieben werden: %2.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="268"/>
        <location filename="../lesson/lesson_panel_layout.cpp" line="47"/>
        <source>All lessons …</source>
        <translation>Alle Lektionen …</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="48"/>
        <source>Start this lesson again …</source>
        <translation>Diese Lektion neu beginnen …</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="49"/>
        <source>Leave the lesson and keep this setup</source>
        <translation>Lektion verlassen und diese Einstellungen behalten</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="51"/>
        <source>Export my answers …</source>
        <translation>Meine Antworten exportieren …</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="56"/>
        <source>More about this lesson</source>
        <translation>Mehr zu dieser Lektion</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="83"/>
        <source>Lesson text</source>
        <translation>Text der Lektion</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="99"/>
        <source>Your order, one line per stage</source>
        <translation>Deine Reihenfolge, eine Zeile je Stufe</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="109"/>
        <source>Hints</source>
        <translation>Tipps</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="122"/>
        <source>Feedback</source>
        <translation>Rückmeldung</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="133"/>
        <location filename="../lesson/lesson_panel_layout.cpp" line="143"/>
        <source>Model answer</source>
        <translation>Musterantwort</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="198"/>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="124"/>
        <source> · part %1 of %2</source>
        <translation> · Teil %1 von %2</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="222"/>
        <source>✓ The run is as predicted</source>
        <translation>✓ Der Lauf ist wie vorhergesagt</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="223"/>
        <source>Check not met</source>
        <translation>Prüfung nicht bestanden</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="255"/>
        <source>“%1” is not a number: type one, such as %2.</source>
        <translation>„%1“ ist keine Zahl: tippe eine, etwa %2.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="261"/>
        <source>You commit a prediction once; hints come before that.</source>
        <translation>Eine Vorhersage legst du einmal fest; Tipps kommen davor.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="262"/>
        <source>You commit a prediction once.</source>
        <translation>Eine Vorhersage legst du einmal fest.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel.cpp" line="268"/>
        <source>Next lesson</source>
        <translation>Nächste Lektion</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="58"/>
        <source>Done: %1</source>
        <translation>Fertig: %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="59"/>
        <source>You have done every lesson. The setup is yours now: change what you like.</source>
        <translation>Du hast alle Lektionen gemacht. Die Einstellungen gehören jetzt dir: ändere, was du magst.</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_course.cpp" line="63"/>
        <source>**Next:** %1 (%2).</source>
        <translation>**Weiter geht es mit:** %1 (%2).</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="125"/>
        <source>Continue with this run</source>
        <translation>Mit diesem Lauf weitermachen</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="126"/>
        <source>The check stays marked as not met</source>
        <translation>Die Prüfung bleibt als nicht bestanden vermerkt</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_panel_layout.cpp" line="168"/>
        <source>Your answer</source>
        <translation>Deine Antwort</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPlayer</name>
    <message>
        <location filename="../lesson/lesson_player.cpp" line="158"/>
        <source>Lesson: %1</source>
        <translation>Lektion: %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_player.cpp" line="269"/>
        <source>Your order could not be saved in %1: %2.</source>
        <translation>Deine Reihenfolge konnte nicht in %1 gespeichert werden: %2.</translation>
    </message>
</context>
<context>
    <name>parallelarium::MemoryView</name>
    <message>
        <location filename="../views/memory_controls.cpp" line="13"/>
        <source>Rank whose memory is shown</source>
        <translation>Rang, dessen Speicher gezeigt wird</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="16"/>
        <source>What is shown</source>
        <translation>Was gezeigt wird</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="17"/>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="17"/>
        <source>The four ZeRO stages</source>
        <translation>Die vier ZeRO-Stufen</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="18"/>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="18"/>
        <source>Bytes per parameter, and bytes sent</source>
        <translation>Bytes je Parameter und gesendete Bytes</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="19"/>
        <source>Over the step</source>
        <translation>Im Schritt</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="19"/>
        <source>Memory of this rank over one step</source>
        <translation>Speicher dieses Rangs über einen Schritt</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="20"/>
        <source>Every rank</source>
        <translation>Jeder Rang</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="21"/>
        <source>First and last stages beside the others</source>
        <translation>Erste und letzte Stufen neben den anderen</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="22"/>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="23"/>
        <source>What is kept for the backward, tensor by tensor</source>
        <translation>Was für den Rückwärtslauf gehalten wird, Tensor für Tensor</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="30"/>
        <source>Recipe of bytes per parameter</source>
        <translation>Rezept der Bytes je Parameter</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="38"/>
        <source>Precision %1</source>
        <translation>Genauigkeit %1</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="42"/>
        <source>Bytes of a parameter</source>
        <translation>Bytes eines Parameters</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="42"/>
        <source>Bytes of a gradient</source>
        <translation>Bytes eines Gradienten</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="43"/>
        <source>Bytes of a master weight</source>
        <translation>Bytes einer Masterkopie</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="43"/>
        <source>Bytes of both moments</source>
        <translation>Bytes beider Momente</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="71"/>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="77"/>
        <source>Tensors kept for the backward</source>
        <translation>Für den Rückwärtslauf gehaltene Tensoren</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="79"/>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="79"/>
        <source>one layer, micro-batch</source>
        <translation>eine Schicht, ein Mikro-Batch</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="80"/>
        <source>in the paper</source>
        <translation>im Artikel</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="80"/>
        <source>its bytes</source>
        <translation>seine Bytes</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="81"/>
        <source>held at the peak</source>
        <translation>an der Spitze gehalten</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="105"/>
        <source>Memory: &amp;ZeRO stages</source>
        <translation>Speicher: &amp;ZeRO-Stufen</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="105"/>
        <source>Memory: &amp;bytes per parameter</source>
        <translation>Speicher: &amp;Bytes je Parameter</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="106"/>
        <source>Memory: over the &amp;step</source>
        <translation>Speicher: im &amp;Schritt</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="106"/>
        <source>Memory: every &amp;rank</source>
        <translation>Speicher: jeder &amp;Rang</translation>
    </message>
    <message>
        <location filename="../views/memory_controls.cpp" line="107"/>
        <source>Memory: &amp;tensors</source>
        <translation>Speicher: &amp;Tensoren</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="39"/>
        <source>counted</source>
        <translation>gezählt</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="39"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="40"/>
        <location filename="../views/memory_pointer.cpp" line="80"/>
        <source>exactly</source>
        <translation>genau</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="58"/>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="79"/>
        <source>holds</source>
        <translation>hält</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="81"/>
        <source>is</source>
        <translation>ist</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="146"/>
        <source>counted %1</source>
        <translation>gezählt %1</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="157"/>
        <source>At %1</source>
        <translation>Bei %1</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="172"/>
        <location filename="../views/memory_view.cpp" line="145"/>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="176"/>
        <source>%1 %2 predicted</source>
        <translation>%1 %2 vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="177"/>
        <source>, %1 counted</source>
        <translation>, %1 gezählt</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="178"/>
        <source>, %1 pinned</source>
        <translation>, %1 angeheftet</translation>
    </message>
    <message>
        <location filename="../views/memory_pointer.cpp" line="189"/>
        <source>%1. %2. At %3 it holds %4. Peak %5 %6.</source>
        <translation>%1. %2. Bei %3 hält er %4. Spitze %5 %6.</translation>
    </message>
    <message>
        <location filename="../views/memory_view.cpp" line="39"/>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location filename="../views/memory_view.cpp" line="125"/>
        <source>%1 in %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <location filename="../views/memory_view.cpp" line="140"/>
        <source>One layer and micro-batch: %1 here, %2 by Korthikanti et al. 2022, table 2.</source>
        <translation>Eine Schicht und ein Mikro-Batch: hier %1, %2 nach Korthikanti et al. 2022, Tabelle 2.</translation>
    </message>
    <message>
        <location filename="../views/memory_view.cpp" line="144"/>
        <source>Why they differ: %1.</source>
        <translation>Warum sie abweichen: %1.</translation>
    </message>
    <message>
        <location filename="../views/memory_view.cpp" line="171"/>
        <source>custom</source>
        <translation>eigenes</translation>
    </message>
</context>
<context>
    <name>parallelarium::MeshView</name>
    <message>
        <location filename="../views/mesh_view.cpp" line="55"/>
        <source>Mesh</source>
        <translation>Gitter</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="59"/>
        <source>Find rank</source>
        <translation>Rang suchen</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="61"/>
        <source>Find a rank by its number</source>
        <translation>Einen Rang nach seiner Nummer suchen</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="68"/>
        <source>Ranks go from 0 to %1.</source>
        <translation>Ränge gehen von 0 bis %1.</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="76"/>
        <location filename="../views/mesh_view.cpp" line="84"/>
        <source>Order of the ranks</source>
        <translation>Ordnung der Ränge</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="77"/>
        <source>DP before PP</source>
        <translation>DP vor PP</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="78"/>
        <source>PP before DP</source>
        <translation>PP vor DP</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="87"/>
        <source>The chosen rank</source>
        <translation>Der gewählte Rang</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="126"/>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="127"/>
        <source>most memory</source>
        <translation>meister Speicher</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="193"/>
        <source>The bytes are hidden until you answer.</source>
        <translation>Die Bytes sind verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="261"/>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="263"/>
        <source>at most %1</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <location filename="../views/mesh_view.cpp" line="265"/>
        <source>sends %1 in a step</source>
        <translation>sendet %1 im Schritt</translation>
    </message>
</context>
<context>
    <name>parallelarium::OpModel</name>
    <message>
        <location filename="../views/op_table.cpp" line="138"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="139"/>
        <source>not run yet</source>
        <translation>noch nicht gelaufen</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="142"/>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="144"/>
        <source>Stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="146"/>
        <source>Op</source>
        <translation>Vorgang</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="148"/>
        <location filename="../views/op_table.cpp" line="152"/>
        <source>Begin, ms
%1</source>
        <translation>Beginn, ms
%1</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="150"/>
        <location filename="../views/op_table.cpp" line="154"/>
        <source>Duration, ms
%1</source>
        <translation>Dauer, ms
%1</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="156"/>
        <source>Spread, ms
%1</source>
        <translation>Streuung, ms
%1</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="158"/>
        <source>Sent, bytes
by plan</source>
        <translation>Gesendet, Bytes
nach Plan</translation>
    </message>
</context>
<context>
    <name>parallelarium::OpTable</name>
    <message>
        <location filename="../views/op_table.cpp" line="184"/>
        <source>Table of ops</source>
        <translation>Tabelle der Vorgänge</translation>
    </message>
    <message>
        <location filename="../views/op_table.cpp" line="185"/>
        <source>&amp;Copy the table or its selected rows</source>
        <translation>Tabelle oder gewählte Zeilen &amp;kopieren</translation>
    </message>
</context>
<context>
    <name>parallelarium::PipelineView</name>
    <message>
        <location filename="../views/pipeline_view.cpp" line="53"/>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="56"/>
        <source>Micro-batches held</source>
        <translation>Gehaltene Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="57"/>
        <source>Show them in place of the timeline; there is no room for both</source>
        <translation>Sie statt der Zeitleiste zeigen; für beides ist kein Platz</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="62"/>
        <source>F3, backward 2, all-reduce …</source>
        <translation>F3, rückwärts 2, all-reduce …</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="63"/>
        <source>Find an op of the timeline</source>
        <translation>Vorgang der Zeitleiste suchen</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="64"/>
        <source>Enter: the next one; Esc: close</source>
        <translation>Enter: der nächste; Esc: schließen</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="83"/>
        <source>One stage: no rank waits for another, so there is no pipeline to see. Set Pipeline PP to 2 or more and the stages work in turn.</source>
        <translation>Eine Stufe: Kein Rang wartet auf einen anderen, es gibt also keine Pipeline zu sehen. Setze Pipeline PP auf 2 oder mehr, dann arbeiten die Stufen reihum.</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="91"/>
        <source>Predicted and run in &amp;pairs</source>
        <translation>Vorhersage und Lauf in &amp;Paaren</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="92"/>
        <source>&amp;Table of ops</source>
        <translation>&amp;Tabelle der Vorgänge</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="94"/>
        <source>&amp;One rank per stage</source>
        <translation>&amp;Ein Rang je Stufe</translation>
    </message>
    <message>
        <location filename="../views/pipeline_view.cpp" line="95"/>
        <source>Remove all &amp;marks</source>
        <translation>Alle &amp;Marken entfernen</translation>
    </message>
</context>
<context>
    <name>parallelarium::SectionHead</name>
    <message>
        <location filename="../controls.cpp" line="165"/>
        <source>reset</source>
        <translation>zurücksetzen</translation>
    </message>
    <message>
        <location filename="../controls.cpp" line="166"/>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <location filename="../controls.cpp" line="167"/>
        <source>Take back the changes of this section</source>
        <translation>Die Änderungen dieses Abschnitts zurücknehmen</translation>
    </message>
</context>
<context>
    <name>parallelarium::SelectionPanel</name>
    <message>
        <location filename="../selection_panel.cpp" line="56"/>
        <location filename="../selection_panel.cpp" line="132"/>
        <source>Selected</source>
        <translation>Ausgewählt</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="137"/>
        <source>Click a chunk or a step to see what it carries, what it adds to, and how long it waited; arrows walk over the moves.</source>
        <translation>Klicke auf ein Stück oder einen Schritt, um zu sehen, was getragen wird, wozu es addiert wird und wie lange es gewartet hat; Pfeile gehen über die Bewegungen.</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="139"/>
        <source>Click a bar to see how long it takes and what it waited for; drag over a time to see how it is spent.</source>
        <translation>Klicke auf einen Balken, um zu sehen, wie lange er dauert und worauf er gewartet hat; ziehe über eine Zeit, um zu sehen, wie sie verbracht wird.</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="179"/>
        <source>Proof: the same as one rank</source>
        <translation>Beweis: dasselbe wie auf einem Rang</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="180"/>
        <source>The losses and all gradients equal those of one rank within their bounds.</source>
        <translation>Verluste und alle Gradienten sind innerhalb ihrer Schranken gleich denen eines Rangs.</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="181"/>
        <source>The run differs from one rank by more than its bounds allow.</source>
        <translation>Der Lauf weicht stärker von dem auf einem Rang ab, als seine Schranken erlauben.</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="183"/>
        <source>loss differs by %1 (bound %2)</source>
        <translation>Verlust weicht um %1 ab (Schranke %2)</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="184"/>
        <source>gradients differ by %1 (bound %2)</source>
        <translation>Gradienten weichen um %1 ab (Schranke %2)</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="188"/>
        <source>largest difference: %1</source>
        <translation>größter Unterschied: %1</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="203"/>
        <source>Formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="205"/>
        <source>? hidden for now</source>
        <translation>? vorerst verborgen</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="203"/>
        <source>Formula, without transfers</source>
        <translation>Formel, ohne Übertragungen</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="24"/>
        <source>%1 times, %2</source>
        <translation>%1-mal, %2</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="220"/>
        <source>Predicted, with transfers</source>
        <translation>Vorhergesagt, mit Übertragungen</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="221"/>
        <source>bubble of whole step &lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Blase am ganzen Schritt &lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <location filename="../selection_panel.cpp" line="222"/>
        <source>bubble over ideal time &lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Blase zur idealen Zeit &lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
</context>
<context>
    <name>parallelarium::Session</name>
    <message>
        <location filename="../session_run.cpp" line="47"/>
        <source>%1 is not this computer, so nothing can run on it from here. %2</source>
        <translation>%1 ist nicht dieser Rechner, von hier kann dort also nichts laufen. %2</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="89"/>
        <source>Fewer ranks, a smaller model or micro-batch would shrink it.</source>
        <translation>Weniger Ränge, ein kleineres Modell oder Mikro-Batch würden es verkleinern.</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="90"/>
        <source>More stages, TP, ZeRO or recompute would shrink it.</source>
        <translation>Mehr Stufen, TP, ZeRO oder Neurechnen würden es verkleinern.</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="95"/>
        <source>This does not fit in memory. %1</source>
        <translation>Das passt nicht in den Speicher. %1</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="97"/>
        <source>This does not fit in memory: the ranks need %1 together of %2. %3</source>
        <translation>Das passt nicht in den Speicher: die Ränge brauchen zusammen %1 von %2. %3</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="103"/>
        <source>This does not fit in memory: stage %1 needs %2 of %3. %4</source>
        <translation>Das passt nicht in den Speicher: Stufe %1 braucht %2 von %3. %4</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="111"/>
        <source>Run a small copy here</source>
        <translation>Kleine Kopie hier starten</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="117"/>
        <source>Run on 1 GPU rank</source>
        <translation>Auf 1 GPU-Rang starten</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="117"/>
        <source>Run on %1 GPU ranks</source>
        <translation>Auf %1 GPU-Rängen starten</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="118"/>
        <source>Run on 1 CPU rank</source>
        <translation>Auf 1 CPU-Rang starten</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="118"/>
        <source>Run on %1 CPU ranks</source>
        <translation>Auf %1 CPU-Rängen starten</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="121"/>
        <source>%1, paced</source>
        <translation>%1, getaktet</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="123"/>
        <source>%1, oversubscribed</source>
        <translation>%1, überbelegt</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="133"/>
        <source>A small copy cannot run here either: %1</source>
        <translation>Auch eine kleine Kopie kann hier nicht laufen: %1</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="142"/>
        <source>Run a small copy here instead, with the same mesh and schedule.</source>
        <translation>Starte stattdessen hier eine kleine Kopie, mit demselben Gitter und Ablaufplan.</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="143"/>
        <source>Run a small copy here instead; fewer ranks run at once here: %1.</source>
        <translation>Starte stattdessen hier eine kleine Kopie; hier laufen weniger Ränge zugleich: %1.</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="155"/>
        <source>Small copy</source>
        <translation>Kleine Kopie</translation>
    </message>
    <message>
        <location filename="../session_collective.cpp" line="30"/>
        <location filename="../session_run.cpp" line="165"/>
        <source>Starting the ranks</source>
        <translation>Die Ränge starten</translation>
    </message>
    <message>
        <location filename="../session_collective.cpp" line="55"/>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="181"/>
        <source>Measuring this computer</source>
        <translation>Dieser Rechner wird vermessen</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="255"/>
        <source>Cancelling</source>
        <translation>Wird abgebrochen</translation>
    </message>
    <message>
        <location filename="../session_run.cpp" line="56"/>
        <source>A run would show the answer: commit yours in the lesson first.</source>
        <translation>Ein Lauf würde die Antwort zeigen: lege zuerst deine in der Lektion fest.</translation>
    </message>
</context>
<context>
    <name>parallelarium::SetupChips</name>
    <message>
        <location filename="../setup_chips.cpp" line="12"/>
        <source>Setup, in short</source>
        <translation>Einstellungen, kurz</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="39"/>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="40"/>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="47"/>
        <source>%1 · %2 micro-batch</source>
        <translation>%1 · %2 Mikro-Batch</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="47"/>
        <source>%1 · %2 micro-batches</source>
        <translation>%1 · %2 Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="50"/>
        <source>Settings …</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <location filename="../setup_chips.cpp" line="53"/>
        <source>Setup: %1</source>
        <translation>Einstellungen: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::SetupPanel</name>
    <message>
        <location filename="../setup_panel.cpp" line="47"/>
        <source>No whole number of micro-batches keeps %1 sequences with DP %2; the global batch changes.</source>
        <translation>Keine ganze Zahl von Mikro-Batches hält %1 Sequenzen mit DP %2; der globale Batch ändert sich.</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="52"/>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="61"/>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="73"/>
        <location filename="../setup_panel_layout.cpp" line="243"/>
        <source>%1 · %2 layers</source>
        <translation>%1 · %2 Schichten</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="75"/>
        <source>Own model</source>
        <translation>Eigenes Modell</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="91"/>
        <source>%1 parameters · %2 wide · %3 heads</source>
        <translation>%1 Parameter · %2 breit · %3 Köpfe</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="96"/>
        <source>%1 parameters, %2 active · %3 wide</source>
        <translation>%1 Parameter, %2 aktiv · %3 breit</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="141"/>
        <source>%1 rank on %2 cores</source>
        <translation>%1 Rang auf %2 Kernen</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="141"/>
        <source>%1 ranks on %2 cores</source>
        <translation>%1 Ränge auf %2 Kernen</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="145"/>
        <source>%1 of %2 ranks</source>
        <translation>%1 von %2 Rängen</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="150"/>
        <source>%1 ranks on %2 nodes</source>
        <translation>%1 Ränge auf %2 Knoten</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="154"/>
        <location filename="../setup_panel.cpp" line="178"/>
        <source>set</source>
        <translation>eingestellt</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="172"/>
        <source>%1 seq. · %2 tok.</source>
        <translation>%1 Seq. · %2 Tok.</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="175"/>
        <source>%1 sequences of %2 tokens in one training step</source>
        <translation>%1 Sequenzen zu %2 Token in einem Trainingsschritt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="37"/>
        <source>Setup</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="48"/>
        <location filename="../setup_panel_layout.cpp" line="49"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="56"/>
        <location filename="../setup_panel_layout.cpp" line="57"/>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="76"/>
        <source>Parallelism</source>
        <translation>Parallelität</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="77"/>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="78"/>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="79"/>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="80"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="81"/>
        <source>Expert</source>
        <translation>Experten</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="83"/>
        <source>Sequence parallel</source>
        <translation>Sequenzparallel</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="84"/>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="84"/>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="85"/>
        <source>needs TP above 1</source>
        <translation>braucht TP über 1</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="88"/>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="93"/>
        <source>World size</source>
        <translation>Ränge gesamt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="109"/>
        <source>nothing is shared out</source>
        <translation>nichts ist aufgeteilt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="109"/>
        <source>optimizer state is shared out</source>
        <translation>der Optimiererzustand ist aufgeteilt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="110"/>
        <source>optimizer state and gradients are shared out</source>
        <translation>Optimiererzustand und Gradienten sind aufgeteilt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="111"/>
        <source>optimizer state, gradients and parameters are shared out</source>
        <translation>Optimiererzustand, Gradienten und Parameter sind aufgeteilt</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="119"/>
        <source>Batch and pipeline</source>
        <translation>Batch und Pipeline</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="120"/>
        <source>Schedule</source>
        <translation>Ablaufplan</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="129"/>
        <source>Micro-batches</source>
        <translation>Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="140"/>
        <source>Keep the global batch</source>
        <translation>Globalen Batch halten</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="142"/>
        <source>Keep the global batch: DP and micro-batch size then change the number of micro-batches</source>
        <translation>Globalen Batch halten: DP und Mikro-Batch-Größe ändern dann die Zahl der Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="146"/>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="148"/>
        <location filename="../setup_panel_layout.cpp" line="154"/>
        <source>Recompute</source>
        <translation>Neu rechnen</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="149"/>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="150"/>
        <source>select.</source>
        <translation>ausgew.</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="151"/>
        <source>selective: attention is computed again in the backward</source>
        <translation>ausgewählt: Attention wird im Rückwärtslauf neu gerechnet</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="152"/>
        <source>full</source>
        <translation>alles</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="152"/>
        <source>only the inputs of layers are kept</source>
        <translation>nur die Eingaben der Schichten bleiben</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="160"/>
        <source>All settings …</source>
        <translation>Alle Einstellungen …</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="231"/>
        <source>needs experts</source>
        <translation>braucht Experten</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="107"/>
        <source>%1 per node</source>
        <translation>%1 je Knoten</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="108"/>
        <source>%1 core</source>
        <translation>%1 Kern</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="108"/>
        <source>%1 cores</source>
        <translation>%1 Kerne</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="148"/>
        <source>%1 rank on %2 node</source>
        <translation>%1 Rang auf %2 Knoten</translation>
    </message>
    <message>
        <location filename="../setup_panel.cpp" line="149"/>
        <source>%1 ranks on %2 node</source>
        <translation>%1 Ränge auf %2 Knoten</translation>
    </message>
    <message>
        <location filename="../setup_panel_layout.cpp" line="181"/>
        <source>Locked by this part of the lesson</source>
        <translation>In diesem Teil der Lektion gesperrt</translation>
    </message>
</context>
<context>
    <name>parallelarium::ShortcutSheet</name>
    <message>
        <location filename="../shortcut_sheet.cpp" line="60"/>
        <source>While a view has the focus</source>
        <translation>Wenn eine Ansicht den Fokus hat</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="62"/>
        <source>With the mouse on the timeline</source>
        <translation>Mit der Maus auf der Zeitleiste</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="63"/>
        <source>Ctrl+wheel</source>
        <translation>Strg+Rad</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="63"/>
        <source>Zoom at the pointer</source>
        <translation>Am Zeiger vergrößern</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="64"/>
        <source>Wheel, Shift+wheel</source>
        <translation>Rad, Umschalt+Rad</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="64"/>
        <source>Scroll; move through time</source>
        <translation>Blättern; durch die Zeit gehen</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="65"/>
        <source>Drag</source>
        <translation>Ziehen</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="65"/>
        <source>Select a range of time</source>
        <translation>Einen Zeitbereich wählen</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="73"/>
        <source>Reset the keys</source>
        <translation>Tasten zurücksetzen</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="100"/>
        <source>Single keys act; press another key in a field to change it</source>
        <translation>Einzelne Tasten wirken; drücke in einem Feld eine andere Taste, um sie zu ändern</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="110"/>
        <source>Key: %1</source>
        <translation>Taste: %1</translation>
    </message>
    <message>
        <location filename="../shortcut_sheet.cpp" line="24"/>
        <source>Help and shortcuts</source>
        <translation>Hilfe und Tasten</translation>
    </message>
</context>
<context>
    <name>parallelarium::StageStrip</name>
    <message>
        <location filename="../views/stage_strip.cpp" line="227"/>
        <source>Stages at this moment</source>
        <translation>Stufen in diesem Augenblick</translation>
    </message>
    <message>
        <location filename="../views/stage_strip.cpp" line="267"/>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
</context>
<context>
    <name>parallelarium::StepDots</name>
    <message>
        <location filename="../lesson/option_card.cpp" line="78"/>
        <source>Part %1 of %2</source>
        <translation>Teil %1 von %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::Strip</name>
    <message>
        <location filename="../strip.cpp" line="166"/>
        <source>Predicted beside observed</source>
        <translation>Vorhergesagt neben beobachtet</translation>
    </message>
</context>
<context>
    <name>parallelarium::StripCell</name>
    <message>
        <location filename="../strip.cpp" line="61"/>
        <location filename="../strip.cpp" line="94"/>
        <source>difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <location filename="../strip.cpp" line="66"/>
        <source>difference: %1</source>
        <translation>Unterschied: %1</translation>
    </message>
    <message>
        <location filename="../strip.cpp" line="68"/>
        <source>your guess: %1</source>
        <translation>deine Schätzung: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::TimelineView</name>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="191"/>
        <source>Move the playhead here</source>
        <translation>Abspielmarke hierher</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="193"/>
        <source>Set or remove a mark here</source>
        <translation>Hier Marke setzen oder entfernen</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="195"/>
        <source>Remove all marks</source>
        <translation>Alle Marken entfernen</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="200"/>
        <source>Predicted and run in pairs</source>
        <translation>Vorhersage und Lauf in Paaren</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="208"/>
        <source>Show one rank per stage</source>
        <translation>Einen Rang je Stufe zeigen</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="210"/>
        <source>Show all ranks</source>
        <translation>Alle Ränge zeigen</translation>
    </message>
    <message>
        <location filename="../views/timeline_pointer.cpp" line="215"/>
        <source>Copy text</source>
        <translation>Text kopieren</translation>
    </message>
    <message>
        <location filename="../views/timeline_view.cpp" line="30"/>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
    <message numerus="yes">
        <location filename="../views/timeline_view.cpp" line="269"/>
        <source>%n ops share these pixels; zoom in to see each.</source>
        <translation>
            <numerusform>%n Vorgang liegt auf diesen Pixeln.</numerusform>
            <numerusform>%n Vorgänge teilen sich diese Pixel; vergrößere, um jeden zu sehen.</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../views/timeline_view.cpp" line="302"/>
        <source>Selected: %1</source>
        <translation>Ausgewählt: %1</translation>
    </message>
    <message>
        <location filename="../views/timeline_walk.cpp" line="210"/>
        <source>The ops are hidden until you answer.</source>
        <translation>Die Vorgänge sind verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <location filename="../views/timeline_walk.cpp" line="213"/>
        <source>No op is called “%1”; try F3, backward 2, all-reduce, or stage 1.</source>
        <translation>Kein Vorgang heißt „%1“; versuche F3, rückwärts 2, all-reduce oder Stufe 1.</translation>
    </message>
    <message>
        <location filename="../views/timeline_walk.cpp" line="220"/>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <location filename="../views/timeline_walk.cpp" line="234"/>
        <source>This op waited for no other.</source>
        <translation>Dieser Vorgang hat auf keinen anderen gewartet.</translation>
    </message>
    <message>
        <location filename="../views/timeline_walk.cpp" line="234"/>
        <source>No op waits for this one.</source>
        <translation>Kein Vorgang wartet auf diesen.</translation>
    </message>
</context>
<context>
    <name>parallelarium::TopBar</name>
    <message>
        <location filename="../top_bar.cpp" line="50"/>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="51"/>
        <source>Prove it</source>
        <translation>Beweisen</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="52"/>
        <source>Export ▾</source>
        <translation>Export ▾</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="94"/>
        <location filename="../top_bar.cpp" line="113"/>
        <location filename="../top_bar.cpp" line="114"/>
        <source>Cancelling …</source>
        <translation>Wird abgebrochen …</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="95"/>
        <location filename="../top_bar.cpp" line="117"/>
        <source>Cancel calibration</source>
        <translation>Kalibrieren abbrechen</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="118"/>
        <source>Calibrating · %1 · %2</source>
        <translation>Kalibriert · %1 · %2</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="95"/>
        <location filename="../top_bar.cpp" line="122"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="124"/>
        <source>Proving · %1 · %2</source>
        <translation>Beweist · %1 · %2</translation>
    </message>
    <message>
        <location filename="../top_bar.cpp" line="124"/>
        <source>Running · %1 · %2</source>
        <translation>Läuft · %1 · %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::TransportBar</name>
    <message>
        <location filename="../views/transport_bar.cpp" line="109"/>
        <source>Playback</source>
        <translation>Wiedergabe</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="115"/>
        <source>Previous event</source>
        <translation>Voriges Ereignis</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="116"/>
        <location filename="../views/transport_bar.cpp" line="246"/>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="117"/>
        <source>Next event</source>
        <translation>Nächstes Ereignis</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="118"/>
        <source>Slower</source>
        <translation>Langsamer</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="119"/>
        <source>Faster</source>
        <translation>Schneller</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="120"/>
        <source>Start again at the end</source>
        <translation>Am Ende von vorn</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="121"/>
        <source>Reduced motion</source>
        <translation>Weniger Bewegung</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="126"/>
        <source>Steps instead of moving pictures</source>
        <translation>Schritte statt bewegter Bilder</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="148"/>
        <source>Speed: seconds on screen for one step</source>
        <translation>Tempo: Sekunden am Bildschirm für einen Schritt</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="151"/>
        <source>%1 s per step</source>
        <translation>%1 s je Schritt</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="163"/>
        <location filename="../views/transport_bar.cpp" line="259"/>
        <source>Time in the step</source>
        <translation>Zeit im Schritt</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="246"/>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="251"/>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="253"/>
        <source>Speed, %1</source>
        <translation>Tempo, %1</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="257"/>
        <location filename="../views/transport_bar.cpp" line="270"/>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="258"/>
        <location filename="../views/transport_bar.cpp" line="273"/>
        <source>%1 of step</source>
        <translation>%1 des Schritts</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="259"/>
        <source>Time in the collective</source>
        <translation>Zeit im Kollektiv</translation>
    </message>
    <message>
        <location filename="../views/transport_bar.cpp" line="269"/>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::Window</name>
    <message>
        <location filename="../window.cpp" line="158"/>
        <location filename="../window_actions.cpp" line="280"/>
        <source>Views</source>
        <translation>Ansichten</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="160"/>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="161"/>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="163"/>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="175"/>
        <source>Lesson and selection</source>
        <translation>Lektion und Auswahl</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="223"/>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="224"/>
        <source>Selected</source>
        <translation>Ausgewählt</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="284"/>
        <source>Set %1</source>
        <translation>%1 setzen</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="288"/>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="297"/>
        <location filename="../window.cpp" line="306"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="311"/>
        <location filename="../window.cpp" line="315"/>
        <location filename="../window.cpp" line="319"/>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="331"/>
        <location filename="../window.cpp" line="349"/>
        <source>Run is off: %1</source>
        <translation>Starten geht nicht: %1</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="57"/>
        <source>&amp;New</source>
        <translation>&amp;Neu</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="57"/>
        <source>Start again with the default setup</source>
        <translation>Mit den Vorgaben von vorn beginnen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="59"/>
        <source>&amp;Open …</source>
        <translation>Ö&amp;ffnen …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="60"/>
        <source>Open a document, a setup, or a picture exported from here</source>
        <translation>Ein Dokument, Einstellungen oder ein von hier exportiertes Bild öffnen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="62"/>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="63"/>
        <source>Save &amp;as …</source>
        <translation>Speichern &amp;unter …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="65"/>
        <source>Export &amp;picture …</source>
        <translation>&amp;Bild exportieren …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="68"/>
        <source>Export &amp;trace …</source>
        <translation>&amp;Trace exportieren …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="68"/>
        <source>Chrome trace JSON, for Perfetto</source>
        <translation>Chrome-Trace-JSON, für Perfetto</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="70"/>
        <source>Export ta&amp;ble …</source>
        <translation>Tabe&amp;lle exportieren …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="70"/>
        <source>CSV, a line per op</source>
        <translation>CSV, eine Zeile je Vorgang</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="72"/>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="74"/>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="76"/>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederholen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="82"/>
        <source>Take back the changes of this section</source>
        <translation>Die Änderungen dieses Abschnitts zurücknehmen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="84"/>
        <source>&amp;All settings …</source>
        <translation>&amp;Alle Einstellungen …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="92"/>
        <source>&amp;Collectives view</source>
        <translation>K&amp;ollektivansicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="95"/>
        <source>E&amp;xperts view</source>
        <translation>E&amp;xpertenansicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="99"/>
        <source>Fi&amp;nd …</source>
        <translation>S&amp;uchen …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="100"/>
        <source>An op of the timeline, or a rank in the Mesh view</source>
        <translation>Einen Vorgang der Zeitleiste oder einen Rang in der Gitteransicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="105"/>
        <source>&amp;Fit the step</source>
        <translation>Schritt &amp;einpassen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="106"/>
        <source>Zoom &amp;in</source>
        <translation>Ver&amp;größern</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="108"/>
        <source>Zoom &amp;out</source>
        <translation>Ver&amp;kleinern</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="116"/>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="117"/>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="118"/>
        <source>As the &amp;system</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="120"/>
        <source>&amp;Restore layout</source>
        <translation>Anordnung &amp;wiederherstellen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="120"/>
        <source>Window size and zoom as at first start</source>
        <translation>Fenstergröße und Zoom wie beim ersten Start</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="125"/>
        <source>&amp;Next pane</source>
        <translation>&amp;Nächster Bereich</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="127"/>
        <source>Pre&amp;vious pane</source>
        <translation>&amp;Voriger Bereich</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="129"/>
        <location filename="../window_actions.cpp" line="217"/>
        <source>&amp;Run</source>
        <translation>&amp;Starten</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="129"/>
        <location filename="../window_actions.cpp" line="246"/>
        <source>Run the setup on ranks of this computer</source>
        <translation>Die Einstellungen auf Rängen dieses Rechners laufen lassen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="132"/>
        <source>&amp;Cancel the run</source>
        <translation>Lauf &amp;abbrechen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="133"/>
        <source>&amp;Prove it</source>
        <translation>&amp;Beweisen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="134"/>
        <location filename="../window_actions.cpp" line="251"/>
        <source>Run, repeat it on one rank, and compare losses and gradients</source>
        <translation>Laufen lassen, auf einem Rang wiederholen, Verluste und Gradienten vergleichen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="136"/>
        <source>P&amp;in</source>
        <translation>Anhe&amp;ften</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="137"/>
        <source>Keep this run or prediction as a third lane, to see before and after</source>
        <translation>Diesen Lauf oder diese Vorhersage als dritte Spur behalten, um vorher und nachher zu sehen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="139"/>
        <source>&amp;Unpin</source>
        <translation>&amp;Lösen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="141"/>
        <source>Run a &amp;small copy here</source>
        <translation>&amp;Kleine Kopie hier starten</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="142"/>
        <source>The same mesh, schedule and micro-batches with a model that fits this computer</source>
        <translation>Dasselbe Gitter, derselbe Ablaufplan und dieselben Mikro-Batches mit einem Modell, das auf diesen Rechner passt</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="145"/>
        <source>C&amp;alibrate this computer</source>
        <translation>Diesen Rechner kal&amp;ibrieren</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="146"/>
        <source>Measure its rates again; at most five seconds</source>
        <translation>Seine Raten neu messen; höchstens fünf Sekunden</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="150"/>
        <source>&amp;All lessons …</source>
        <translation>&amp;Alle Lektionen …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="151"/>
        <source>&amp;Start the lesson again …</source>
        <translation>Lektion &amp;neu beginnen …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="151"/>
        <source>With new numbers</source>
        <translation>Mit neuen Zahlen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="153"/>
        <source>&amp;Export my answers …</source>
        <translation>Meine Antworten &amp;exportieren …</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="153"/>
        <source>JSON for a teacher</source>
        <translation>JSON für die Lehrkraft</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="155"/>
        <source>&amp;Leave the lesson</source>
        <translation>Lektion &amp;verlassen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="155"/>
        <source>Keeps the setup</source>
        <translation>Die Einstellungen bleiben</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="159"/>
        <source>&amp;Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="166"/>
        <source>&amp;Doctor</source>
        <translation>&amp;Diagnose</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="167"/>
        <source>What this computer has for training, and what is missing</source>
        <translation>Was dieser Rechner zum Training hat und was fehlt</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="174"/>
        <source>&amp;About Parallelarium</source>
        <translation>&amp;Über Parallelarium</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="181"/>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="183"/>
        <source>Open &amp;recent</source>
        <translation>&amp;Zuletzt geöffnet</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="190"/>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="193"/>
        <source>Re&amp;set section</source>
        <translation>Abschnitt zu&amp;rücksetzen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="197"/>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="207"/>
        <source>In the ti&amp;meline</source>
        <translation>In der Zeit&amp;leiste</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="210"/>
        <source>&amp;Colours</source>
        <translation>Far&amp;ben</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="212"/>
        <source>&amp;Playback</source>
        <translation>Wieder&amp;gabe</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="224"/>
        <source>&amp;Lessons</source>
        <translation>&amp;Lektionen</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="227"/>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="249"/>
        <source>Every run of a collective is verified cell by cell</source>
        <translation>Jeder Lauf eines Kollektivs wird Zelle für Zelle geprüft</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="279"/>
        <source>Anywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="282"/>
        <source>While the table of ops has the focus</source>
        <translation>Wenn die Tabelle den Fokus hat</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="292"/>
        <source>About Parallelarium</source>
        <translation>Über Parallelarium</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="293"/>
        <source>&lt;b&gt;Parallelarium %1&lt;/b&gt;</source>
        <translation>&lt;b&gt;Parallelarium %1&lt;/b&gt;</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="294"/>
        <source>A workbench for learning and planning distributed training of language models: every picture is predicted first, then run on real ranks.

The window is free software under the GNU General Public License, version 3 or later; engine, kernels and lessons are under the Apache License 2.0.</source>
        <translation>Eine Werkbank, um verteiltes Training von Sprachmodellen zu lernen und zu planen: jedes Bild wird erst vorhergesagt und dann auf echten Rängen ausgeführt.

Das Fenster ist freie Software unter der GNU General Public License, Version 3 oder später; Engine, Kernels und Lektionen stehen unter der Apache License 2.0.</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="43"/>
        <source>Unsaved changes</source>
        <translation>Ungespeicherte Änderungen</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="44"/>
        <source>Save the changes to %1?</source>
        <translation>Änderungen an %1 speichern?</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="45"/>
        <source>this document</source>
        <translation>diesem Dokument</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="63"/>
        <source>untitled</source>
        <translation>unbenannt</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="65"/>
        <source>%1[*] — Parallelarium</source>
        <translation>%1[*] — Parallelarium</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="100"/>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="101"/>
        <source>Documents, setups and exported pictures (*.json *.png);;All files (*)</source>
        <translation>Dokumente, Einstellungen und exportierte Bilder (*.json *.png);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="119"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="121"/>
        <source>Documents (*%1)</source>
        <translation>Dokumente (*%1)</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="164"/>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <location filename="../window_files.cpp" line="172"/>
        <source>Wrote %1.</source>
        <translation>%1 geschrieben.</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="159"/>
        <source>Mesh</source>
        <translation>Gitter</translation>
    </message>
    <message>
        <location filename="../window.cpp" line="162"/>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="65"/>
        <source>PNG, SVG or PDF of the view in front</source>
        <translation>PNG, SVG oder PDF der vorderen Ansicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="91"/>
        <source>Mes&amp;h view</source>
        <translation>&amp;Gitteransicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="93"/>
        <source>&amp;Pipeline view</source>
        <translation>&amp;Pipelineansicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="94"/>
        <source>Memor&amp;y view</source>
        <translation>Spe&amp;icheransicht</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="159"/>
        <source>All keys, and where else help is</source>
        <translation>Alle Tasten, und wo es sonst Hilfe gibt</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="161"/>
        <source>&amp;Words</source>
        <translation>&amp;Wörter</translation>
    </message>
    <message>
        <location filename="../window_actions.cpp" line="161"/>
        <source>What the words in this window mean</source>
        <translation>Was die Wörter in diesem Fenster bedeuten</translation>
    </message>
</context>
<context>
    <name>parallelarium::WordsSheet</name>
    <message>
        <location filename="../words_sheet.cpp" line="120"/>
        <source>Words</source>
        <translation>Wörter</translation>
    </message>
</context>
<context>
    <name>quantities</name>
    <message>
        <location filename="../expert_quantities.cpp" line="21"/>
        <source>by the skew</source>
        <translation>nach der Schiefe</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="24"/>
        <source>not counted yet</source>
        <translation>noch nicht gezählt</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="30"/>
        <location filename="../expert_quantities.cpp" line="56"/>
        <source>Layer time, forward</source>
        <translation>Schichtdauer, vorwärts</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="43"/>
        <location filename="../quantities.cpp" line="28"/>
        <source>set by pace</source>
        <translation>vom Takt bestimmt</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="56"/>
        <location filename="../expert_quantities.cpp" line="81"/>
        <source>Fullest rank / mean</source>
        <translation>Vollster Rang / Mittel</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="57"/>
        <location filename="../expert_quantities.cpp" line="84"/>
        <source>Dispatched, one way</source>
        <translation>Dispatch, eine Richtung</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="57"/>
        <location filename="../expert_quantities.cpp" line="86"/>
        <source>Dropped</source>
        <translation>Verworfen</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="62"/>
        <source>not computed yet</source>
        <translation>noch nicht berechnet</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="63"/>
        <source>no experts</source>
        <translation>keine Experten</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="78"/>
        <source>%1 of %2 choices</source>
        <translation>%1 von %2 Zuordnungen</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="90"/>
        <source>run, step %1</source>
        <translation>Lauf, Schritt %1</translation>
    </message>
    <message>
        <location filename="../expert_quantities.cpp" line="91"/>
        <source>counted in the run</source>
        <translation>im Lauf gezählt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="31"/>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="74"/>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="75"/>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="82"/>
        <source>Loss</source>
        <translation>Verlust</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="35"/>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="35"/>
        <source>Bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="36"/>
        <source>Sent per rank</source>
        <translation>Gesendet je Rang</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="36"/>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="37"/>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="47"/>
        <location filename="../collective_quantities.cpp" line="70"/>
        <source>algorithm bandwidth %1</source>
        <translation>Algorithmusbandbreite %1</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="50"/>
        <location filename="../collective_quantities.cpp" line="73"/>
        <source>exact</source>
        <translation>exakt</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="51"/>
        <source>proven on sets of contributions, for every input</source>
        <translation>an Mengen von Beiträgen bewiesen, für jede Eingabe</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="65"/>
        <source>median of %1 repeats; shortest %2, longest %3</source>
        <translation>Median von %1 Wiederholungen; kürzeste %2, längste %3</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="73"/>
        <source>wrong</source>
        <translation>falsch</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="74"/>
        <source>verified</source>
        <translation>geprüft</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="75"/>
        <source>every cell of every rank was compared</source>
        <translation>jede Zelle jedes Rangs wurde verglichen</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="83"/>
        <source>1 cell</source>
        <translation>1 Zelle</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="84"/>
        <source>%1 cells</source>
        <translation>%1 Zellen</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="94"/>
        <location filename="../quantities.cpp" line="86"/>
        <location filename="../quantities.cpp" line="209"/>
        <location filename="../view_quantities.cpp" line="41"/>
        <source>run is of other settings</source>
        <translation>Lauf hat andere Einstellungen</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="95"/>
        <location filename="../expert_quantities.cpp" line="31"/>
        <location filename="../quantities.cpp" line="86"/>
        <location filename="../quantities.cpp" line="209"/>
        <location filename="../view_quantities.cpp" line="41"/>
        <source>not run yet</source>
        <translation>noch nicht gelaufen</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="90"/>
        <source>Loss, last step</source>
        <translation>Verlust, letzter Schritt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="94"/>
        <source>run on one rank</source>
        <translation>Lauf auf einem Rang</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="94"/>
        <source>run on %1 ranks</source>
        <translation>Lauf auf %1 Rängen</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="98"/>
        <source>one rank</source>
        <translation>ein Rang</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="99"/>
        <source>Prove it repeats the run on one rank</source>
        <translation>„Beweisen“ wiederholt den Lauf auf einem Rang</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="106"/>
        <source>on one rank</source>
        <translation>auf einem Rang</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="151"/>
        <source>Step time</source>
        <translation>Schrittdauer</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="153"/>
        <source>Bubble of whole step</source>
        <translation>Blase am ganzen Schritt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="155"/>
        <source>Peak memory, %1</source>
        <translation>Speicherspitze, %1</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="157"/>
        <source>Sent, %1</source>
        <translation>Gesendet, %1</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="184"/>
        <source>pace missed</source>
        <translation>Takt verfehlt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="225"/>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="45"/>
        <location filename="../quantities.cpp" line="161"/>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="164"/>
        <source>idle time over idle plus busy time of all ranks, %1; idle over busy (ideal) time is %2</source>
        <translation>untätige Zeit durch untätige plus tätige Zeit aller Ränge, %1; untätig durch tätige (ideale) Zeit ist %2</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="42"/>
        <location filename="../quantities.cpp" line="168"/>
        <location filename="../view_quantities.cpp" line="83"/>
        <location filename="../view_quantities.cpp" line="117"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="186"/>
        <source>median of %1 steps; shortest %2, longest %3</source>
        <translation>Median von %1 Schritten; kürzester %2, längster %3</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="71"/>
        <location filename="../collective_quantities.cpp" line="76"/>
        <location filename="../quantities.cpp" line="192"/>
        <location filename="../quantities.cpp" line="194"/>
        <location filename="../view_quantities.cpp" line="93"/>
        <location filename="../view_quantities.cpp" line="124"/>
        <source>counted</source>
        <translation>gezählt</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="222"/>
        <source>%1 since pinned run</source>
        <translation>%1 seit angeheftetem Lauf</translation>
    </message>
    <message>
        <location filename="../quantities.cpp" line="222"/>
        <source>%1 since pin</source>
        <translation>%1 seit Anheften</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="97"/>
        <location filename="../expert_quantities.cpp" line="23"/>
        <location filename="../expert_quantities.cpp" line="60"/>
        <location filename="../quantities.cpp" line="249"/>
        <location filename="../view_quantities.cpp" line="44"/>
        <source>settings are not valid</source>
        <translation>Einstellungen sind nicht gültig</translation>
    </message>
    <message>
        <location filename="../collective_quantities.cpp" line="103"/>
        <location filename="../expert_quantities.cpp" line="22"/>
        <location filename="../quantities.cpp" line="256"/>
        <location filename="../view_quantities.cpp" line="48"/>
        <location filename="../view_quantities.cpp" line="130"/>
        <location filename="../view_quantities.cpp" line="132"/>
        <source>hidden for now</source>
        <translation>vorerst verborgen</translation>
    </message>
    <message>
        <location filename="../view_quantities.cpp" line="76"/>
        <source>Bytes per parameter</source>
        <translation>Bytes je Parameter</translation>
    </message>
    <message>
        <location filename="../view_quantities.cpp" line="84"/>
        <source>parameters, gradients and optimizer of this rank at their peaks; the formula gives %1 = %2</source>
        <translation>Parameter, Gradienten und Optimierer dieses Rangs an ihren Spitzen; die Formel gibt %1 = %2</translation>
    </message>
    <message>
        <location filename="../view_quantities.cpp" line="111"/>
        <source>Sent along %1</source>
        <translation>Gesendet entlang %1</translation>
    </message>
</context>
<context>
    <name>selection</name>
    <message>
        <location filename="../selection_text.cpp" line="50"/>
        <source>computing inside</source>
        <translation>darin gerechnet</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="52"/>
        <source>%1 collectives inside</source>
        <translation>darin %1 Kollektive</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="70"/>
        <source>idle before</source>
        <translation>davor untätig</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="76"/>
        <source>idle %1:</source>
        <translation>%1 untätig:</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="105"/>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="119"/>
        <source>over %1 steps</source>
        <translation>über %1 Schritte</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="120"/>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="125"/>
        <source>carries</source>
        <translation>trägt</translation>
    </message>
    <message>
        <location filename="../selection_text.cpp" line="78"/>
        <source>waited %1 for</source>
        <translation>wartete %1 auf</translation>
    </message>
</context>
<context>
    <name>summary</name>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="21"/>
        <source>1 hint</source>
        <translation>1 Tipp</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="21"/>
        <source>%1 hints</source>
        <translation>%1 Tipps</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="26"/>
        <source>right at the first try</source>
        <translation>im ersten Versuch richtig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="27"/>
        <source>right at try %1</source>
        <translation>im %1. Versuch richtig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="56"/>
        <source>check not met</source>
        <translation>Prüfung nicht bestanden</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="58"/>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="58"/>
        <source>not right</source>
        <translation>nicht richtig</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="68"/>
        <source>guess %1</source>
        <translation>geschätzt %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="68"/>
        <source>answer %1</source>
        <translation>Antwort %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="70"/>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="72"/>
        <source>run %1</source>
        <translation>Lauf %1</translation>
    </message>
    <message>
        <location filename="../lesson/lesson_summary.cpp" line="92"/>
        <source>%1 of %2 right at the first try</source>
        <translation>%1 von %2 im ersten Versuch richtig</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <location filename="../views/bar_words.cpp" line="18"/>
        <location filename="../views/bar_words.cpp" line="104"/>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="19"/>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="28"/>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="35"/>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="37"/>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="39"/>
        <source>input gradient</source>
        <translation>Eingabegradient</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="41"/>
        <source>weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="69"/>
        <location filename="../views/bar_words.cpp" line="96"/>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="72"/>
        <source>input gradient of %1</source>
        <translation>Eingabegradient von %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="73"/>
        <source>weight gradient of %1</source>
        <translation>Gewichtsgradient von %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="74"/>
        <source>%1 computed again</source>
        <translation>%1 neu gerechnet</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="76"/>
        <source>%1, layer %2,</source>
        <translation>%1, Schicht %2,</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="90"/>
        <source>clear gradients</source>
        <translation>Gradienten löschen</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="90"/>
        <source>clear</source>
        <translation>löschen</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="133"/>
        <source>%1 of %2 over the %3 ranks of the %4 group, %5</source>
        <translation>%1 von %2 über die %3 Ränge der %4-Gruppe, %5</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="45"/>
        <source>%1 to %2 over %3 steps</source>
        <translation>%1 bis %2 über %3 Schritte</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="57"/>
        <source>before it: idle %1, %2</source>
        <translation>davor: %1 untätig, %2</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="73"/>
        <source>inside: computing %1, %2 collectives %3</source>
        <translation>darin: gerechnet %1, %2 Kollektive %3</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="83"/>
        <source>the duration is set by the pace</source>
        <translation>die Dauer bestimmt der Takt</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="86"/>
        <source>times are not evidence of speed</source>
        <translation>die Zeiten sagen nichts über Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="93"/>
        <source>difference %1</source>
        <translation>Unterschied %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="100"/>
        <source>warm-up</source>
        <translation>Anlauf</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="102"/>
        <source>wait</source>
        <translation>Warten</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="104"/>
        <source>transfer</source>
        <translation>Übertragung</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="106"/>
        <source>drain</source>
        <translation>Auslauf</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="91"/>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="98"/>
        <source>L%1</source>
        <comment>a layer, as short as can be</comment>
        <translation>S%1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="107"/>
        <source>%1 of micro-batch %2 on %3</source>
        <translation>%1 von Mikro-Batch %2 auf %3</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="111"/>
        <source>%1 in the %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="113"/>
        <source>Clearing the gradients on %1</source>
        <translation>Gradienten löschen auf %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="114"/>
        <source>Norm of the gradients on %1</source>
        <translation>Norm der Gradienten auf %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="115"/>
        <source>Optimizer on %1</source>
        <translation>Optimierer auf %1</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="118"/>
        <source>%1 of micro-batch %2</source>
        <translation>%1 von Mikro-Batch %2</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="120"/>
        <location filename="../views/bar_words.cpp" line="122"/>
        <source>%1 from %2 to %3</source>
        <translation>%1 von %2 nach %3</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="127"/>
        <source>layer %1, %2</source>
        <translation>Schicht %1, %2</translation>
    </message>
    <message>
        <location filename="../views/bar_words.cpp" line="129"/>
        <source>%1 of %2 over %3 ranks, %4</source>
        <translation>%1 von %2 über %3 Ränge, %4</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="138"/>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="150"/>
        <source>Idle %1, %2: %3</source>
        <translation>Untätig %1, %2: %3</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="160"/>
        <source>LOWER BOUND AT PEAK RATES</source>
        <translation>UNTERE SCHRANKE BEI SPITZENRATEN</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="160"/>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="161"/>
        <location filename="../views/words.cpp" line="163"/>
        <source>PREDICTED, PACED</source>
        <translation>VORHERGESAGT, GETAKTET</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="164"/>
        <source>%1 times slower than this engine</source>
        <translation>%1-mal langsamer als diese Engine</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="165"/>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="168"/>
        <source>assumed rates, this computer is not calibrated yet</source>
        <translation>angenommene Raten, dieser Rechner ist noch nicht kalibriert</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="169"/>
        <source>for %1, assumed rates</source>
        <translation>für %1, angenommene Raten</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="172"/>
        <source>for this engine, calibrated</source>
        <translation>für diese Engine, kalibriert</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="173"/>
        <source>for %1, calibrated</source>
        <translation>für %1, kalibriert</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="177"/>
        <source>%1 RUN</source>
        <translation>LAUF: %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="183"/>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="185"/>
        <source>other work kept the cores, %1 times as long</source>
        <translation>andere Arbeit hielt die Kerne, %1-mal so lange</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="190"/>
        <source>%1 UTC</source>
        <translation>%1 UTC</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="208"/>
        <location filename="../views/words.cpp" line="239"/>
        <source>%1 stage</source>
        <translation>%1 Stufe</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="209"/>
        <location filename="../views/words.cpp" line="240"/>
        <source>%1 stages</source>
        <translation>%1 Stufen</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="210"/>
        <source>DP %1</source>
        <translation>DP %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="211"/>
        <source>TP %1</source>
        <translation>TP %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="213"/>
        <location filename="../views/words.cpp" line="241"/>
        <source>%1 micro-batch</source>
        <translation>%1 Mikro-Batch</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="214"/>
        <location filename="../views/words.cpp" line="242"/>
        <source>%1 micro-batches</source>
        <translation>%1 Mikro-Batches</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="216"/>
        <source>micro-batch size %1</source>
        <translation>Mikro-Batch-Größe %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="224"/>
        <source>run with %1</source>
        <translation>Lauf mit %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="238"/>
        <source>No pipeline</source>
        <translation>Keine Pipeline</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="244"/>
        <source>%1 replica</source>
        <translation>%1 Replik</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="245"/>
        <source>%1 replicas</source>
        <translation>%1 Repliken</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="253"/>
        <source>%1 layer</source>
        <translation>%1 Schicht</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="254"/>
        <source>%1 layers</source>
        <translation>%1 Schichten</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="255"/>
        <source>DP %1 TP %2 PP %3 CP %4 EP %5</source>
        <translation>DP %1 TP %2 PP %3 CP %4 EP %5</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="262"/>
        <source>%1 micro-batches of %2</source>
        <translation>%1 Mikro-Batches zu %2</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="263"/>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="272"/>
        <source>calibrated %1</source>
        <translation>kalibriert %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="288"/>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="290"/>
        <source>stage %1 %2</source>
        <translation>Stufe %1 %2</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="293"/>
        <source>stage %1 %2, %3</source>
        <translation>Stufe %1 %2, %3</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="296"/>
        <source>holds nothing</source>
        <translation>hält nichts</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="297"/>
        <source>holds %1</source>
        <translation>hält %1</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="299"/>
        <source>At %1: %2.</source>
        <translation>Bei %1: %2.</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="171"/>
        <source>for %1, published efficiencies</source>
        <translation>für %1, veröffentlichte Wirkungsgrade</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="181"/>
        <source>training step %1 of %2, the median</source>
        <translation>Trainingsschritt %1 von %2, der Median</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="217"/>
        <source>other settings</source>
        <translation>anderen Einstellungen</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="228"/>
        <source>PINNED</source>
        <translation>ANGEHEFTET</translation>
    </message>
    <message>
        <location filename="../views/words.cpp" line="233"/>
        <source>with %1</source>
        <translation>mit %1</translation>
    </message>
</context>
</TS>
