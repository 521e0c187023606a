<?xml version="1.0" encoding="utf-8"?>
<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en_US">
<context>
    <name>parallelarium::GuideSheet</name>
    <message>
        <source>For teachers</source>
        <translation>Für Lehrende</translation>
    </message>
    <message>
        <source>The guide TEACHING.md is not beside the lessons.</source>
        <translation>Der Leitfaden TEACHING.md liegt nicht bei den Lektionen.</translation>
    </message>
</context>
<context>
    <name>parallelarium::MachineSheet</name>
    <message>
        <source>Change devices</source>
        <translation>Geräte ändern</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alles zurücksetzen</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>Devices per node</source>
        <translation>Geräte je Knoten</translation>
    </message>
    <message>
        <source>Memory of a device</source>
        <translation>Speicher eines Geräts</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Share for training</source>
        <translation>Anteil fürs Training</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <source>Share that steps reach</source>
        <translation>Anteil, den Schritte erreichen</translation>
    </message>
    <message>
        <source>To the host, one way</source>
        <translation>Zum Host, je Richtung</translation>
    </message>
    <message>
        <source>Arithmetic of a device</source>
        <translation>Rechenwerk eines Geräts</translation>
    </message>
    <message>
        <source>Peak, 16 bit</source>
        <translation>Spitze, 16 Bit</translation>
    </message>
    <message>
        <source>Peak, fp32</source>
        <translation>Spitze, fp32</translation>
    </message>
    <message>
        <source>Share that is kept up</source>
        <translation>Anteil auf Dauer</translation>
    </message>
    <message>
        <source>Slower beside communication</source>
        <translation>Langsamer neben Kommunikation</translation>
    </message>
    <message>
        <source>Fixed cost of an op</source>
        <translation>Fester Aufwand je Operation</translation>
    </message>
    <message>
        <source>Links in a node</source>
        <translation>Verbindungen im Knoten</translation>
    </message>
    <message>
        <source>Rate, one way</source>
        <translation>Rate, je Richtung</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>Network between nodes</source>
        <translation>Netz zwischen Knoten</translation>
    </message>
    <message>
        <source>Rate of a card, one way</source>
        <translation>Rate einer Karte, je Richtung</translation>
    </message>
    <message>
        <source>Reset devices</source>
        <translation>Geräte zurücksetzen</translation>
    </message>
    <message>
        <source>reset</source>
        <translation>zurücksetzen</translation>
    </message>
    <message>
        <source>“%1” is not a number.</source>
        <translation>„%1“ ist keine Zahl.</translation>
    </message>
    <message>
        <source>changed here</source>
        <translation>hier geändert</translation>
    </message>
    <message>
        <source>%1 of devices</source>
        <translation>%1 der Geräte</translation>
    </message>
    <message>
        <source>Reset %1 of devices</source>
        <translation>%1 der Geräte zurücksetzen</translation>
    </message>
    <message>
        <source>This computer&apos;s rates are measured. Choose other devices to change theirs.</source>
        <translation>Die Raten dieses Rechners sind gemessen. Wähle andere Geräte, um ihre zu ändern.</translation>
    </message>
    <message>
        <source>Network cards of a node</source>
        <translation>Netzwerkkarten eines Knotens</translation>
    </message>
    <message>
        <source>one for each device</source>
        <translation>eine für jedes Gerät</translation>
    </message>
    <message>
        <source>Nodes of a leaf group</source>
        <translation>Knoten einer Blattgruppe</translation>
    </message>
    <message>
        <source>Oversubscription above it</source>
        <translation>Überbuchung darüber</translation>
    </message>
    <message>
        <source>Switches add up (SHARP)</source>
        <translation>Switches addieren (SHARP)</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
</context>
<context>
    <name>QObject</name>
    <message>
        <source>“%1” is not a number.</source>
        <translation>„%1“ ist keine Zahl.</translation>
    </message>
    <message>
        <source>“%1” is not a number. One of these units may follow it: %2.</source>
        <translation>„%1“ ist keine Zahl. Eine dieser Einheiten darf ihr folgen: %2.</translation>
    </message>
    <message>
        <source>overlapped</source>
        <translation>überlappt</translation>
    </message>
    <message>
        <source>calibrate again for bf16</source>
        <translation>für bf16 neu kalibrieren</translation>
    </message>
    <message>
        <source>calibrate again when it is quiet</source>
        <translation>neu kalibrieren, wenn Ruhe ist</translation>
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
        <source>Communication</source>
        <translation>Kommunikation</translation>
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
        <source>chunk 0 to %1</source>
        <translation>Stück 0 bis %1</translation>
    </message>
    <message>
        <source>%1: step %2</source>
        <translation>%1: Schritt %2</translation>
    </message>
    <message>
        <source>, durations set</source>
        <translation>, Dauern gesetzt</translation>
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
        <source>length is set</source>
        <translation>Länge gesetzt</translation>
    </message>
    <message>
        <source>the rehearsal&apos;s length is set</source>
        <translation>Länge der Probe gesetzt</translation>
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
        <source>keys and values gathered, no ring</source>
        <translation>Schlüssel und Werte gesammelt, kein Ring</translation>
    </message>
    <message>
        <source>%1 · click here to pin it below</source>
        <translation>%1 · ein Klick hier heftet es unten an</translation>
    </message>
    <message>
        <source>YOUR RUN</source>
        <translation>DEIN LAUF</translation>
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
    <message>
        <source>A share lies between 0&#xa0;% and 100&#xa0;%.</source>
        <translation>Ein Anteil liegt zwischen 0&#xa0;% und 100&#xa0;%.</translation>
    </message>
    <message>
        <source>The answer cannot be negative.</source>
        <translation>Die Antwort kann nicht negativ sein.</translation>
    </message>
    <message>
        <source>not calibrated yet</source>
        <translation>noch nicht kalibriert</translation>
    </message>
    <message>
        <source>sizes predicted, and counted in the run (%1)</source>
        <translation>Größen vorhergesagt und im Lauf gezählt (%1)</translation>
    </message>
    <message>
        <source>sizes predicted</source>
        <translation>Größen vorhergesagt</translation>
    </message>
    <message>
        <source>More above</source>
        <translation>Oben geht es weiter</translation>
    </message>
    <message>
        <source>More below</source>
        <translation>Mehr darunter</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <source>%1 in place of %2</source>
        <translation>%1 statt %2</translation>
    </message>
    <message>
        <source>Running, %1: loss %2</source>
        <translation>Läuft, %1: Verlust %2</translation>
    </message>
    <message>
        <source>ORDER</source>
        <translation>FOLGE</translation>
    </message>
    <message>
        <source>first to last, not time: drag, type, Alt+arrows move, Delete</source>
        <translation>der Reihe nach, ohne Zeitmaß: ziehen, tippen, Alt+Pfeile, Entf</translation>
    </message>
    <message>
        <source>first to last, not time</source>
        <translation>der Reihe nach, ohne Zeitmaß</translation>
    </message>
    <message>
        <source>placed</source>
        <translation>gesetzt</translation>
    </message>
    <message>
        <source>held</source>
        <translation>gehalten</translation>
    </message>
    <message>
        <source>held, at most</source>
        <translation>gehalten, höchstens</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>%1/%2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>one unit is a forward; I takes %1, W takes %2</source>
        <translation>eine Einheit ist ein Vorwärtslauf; I dauert %1, W dauert %2</translation>
    </message>
    <message>
        <source>one unit is a forward; a backward takes %1</source>
        <translation>eine Einheit ist ein Vorwärtslauf; ein Rückwärtslauf dauert %1</translation>
    </message>
    <message>
        <source>FORWARDS</source>
        <translation>LÄUFE</translation>
    </message>
    <message>
        <source>floor %1</source>
        <translation>Untergrenze %1</translation>
    </message>
    <message>
        <source>par %1</source>
        <translation>Par %1</translation>
    </message>
    <message>
        <source>waits for %1 of stage %2, which is not placed yet</source>
        <translation>wartet auf %1 von Stufe %2; das ist noch nicht gesetzt</translation>
    </message>
    <message>
        <source>waits forever for its own %1, which stands behind</source>
        <translation>wartet ewig auf das eigene %1, das dahinter steht</translation>
    </message>
    <message>
        <source>waits forever for %1 of stage %2</source>
        <translation>wartet ewig auf %1 von Stufe %2</translation>
    </message>
    <message>
        <source>waits for %1 of stage %2, which waits itself</source>
        <translation>wartet auf %1 von Stufe %2, die selbst wartet</translation>
    </message>
    <message>
        <source>1 forward</source>
        <translation>1 Vorwärtslauf</translation>
    </message>
    <message>
        <source>%1 forwards</source>
        <translation>%1 Vorwärtsläufe</translation>
    </message>
    <message>
        <source>A rank works through its row from the left: what stands behind cannot help what stands before.</source>
        <translation>Ein Rang arbeitet seine Reihe von links ab: Was dahinter steht, hilft dem nicht, was davor steht.</translation>
    </message>
    <message>
        <source>Each of them would do later what another waits for now.</source>
        <translation>Jeder täte erst später, worauf ein anderer jetzt wartet.</translation>
    </message>
    <message>
        <source>No order of this work is shorter.</source>
        <translation>Keine Reihenfolge dieser Arbeit ist kürzer.</translation>
    </message>
    <message>
        <source>Par is reached.</source>
        <translation>Par ist erreicht.</translation>
    </message>
    <message>
        <source>Par is %1.</source>
        <translation>Par ist %1.</translation>
    </message>
    <message>
        <source>This is %1.</source>
        <translation>Das ist %1.</translation>
    </message>
    <message>
        <source>%1 holds %2 micro-batches, but may hold %3.</source>
        <translation>%1 hält %2 Mikro-Batches, darf aber %3 halten.</translation>
    </message>
    <message>
        <source>A micro-batch is held from its forward until its backward has ended.</source>
        <translation>Ein Mikro-Batch wird von seinem Vorwärtslauf bis zum Ende seines Rückwärtslaufs gehalten.</translation>
    </message>
    <message>
        <source>The order is legal and %1 long.</source>
        <translation>Die Reihenfolge ist gültig und %1 lang.</translation>
    </message>
    <message>
        <source>No rank is stuck.</source>
        <translation>Kein Rang hängt fest.</translation>
    </message>
    <message>
        <source>%1 waits for %2 of stage %3.</source>
        <translation>%1 wartet auf %2 von Stufe %3.</translation>
    </message>
    <message>
        <source>Click one of the dashed actions, or type F, B or a whole row.</source>
        <translation>Klicke auf eine der gestrichelten Aktionen, oder tippe F, B oder eine ganze Reihe.</translation>
    </message>
    <message>
        <source>%1 of %2 actions are placed.</source>
        <translation>%1 von %2 Aktionen sind gesetzt.</translation>
    </message>
    <message>
        <source>this order</source>
        <translation>diese Reihenfolge</translation>
    </message>
    <message>
        <source>your best</source>
        <translation>deine beste</translation>
    </message>
    <message>
        <source>par</source>
        <translation>Par</translation>
    </message>
    <message>
        <source>floor</source>
        <translation>Untergrenze</translation>
    </message>
    <message>
        <source>floor …</source>
        <translation>Untergrenze …</translation>
    </message>
    <message>
        <source>No order keeps these limits.</source>
        <translation>Keine Reihenfolge hält diese Höchstzahlen ein.</translation>
    </message>
    <message>
        <source>a micro-batch goes forward and back behind all others of a stage.</source>
        <translation>Ein Mikro-Batch läuft hinter allen anderen einer Stufe vor und zurück.</translation>
    </message>
    <message>
        <source>where few micro-batches may be held, they take turns.</source>
        <translation>Wo nur wenige Mikro-Batches gehalten werden dürfen, wechseln sie sich ab.</translation>
    </message>
    <message>
        <source>all such orders were tried.</source>
        <translation>Alle solchen Reihenfolgen wurden probiert.</translation>
    </message>
    <message>
        <source>The best order known here takes %1.</source>
        <translation>Die beste Reihenfolge, die hier bekannt ist, dauert %1.</translation>
    </message>
    <message>
        <source>No order is known that keeps the limits.</source>
        <translation>Es ist keine Reihenfolge bekannt, die die Höchstzahlen einhält.</translation>
    </message>
    <message>
        <source>Run on %1 ranks (%2): a step took %3, predicted were %4.</source>
        <translation>Lauf auf %1 Rängen (%2): Ein Schritt dauerte %3, vorhergesagt waren %4.</translation>
    </message>
    <message>
        <source>yours</source>
        <translation>deine</translation>
    </message>
    <message>
        <source>Length, forwards</source>
        <translation>Länge, Vorwärtsläufe</translation>
    </message>
    <message>
        <source>never ends</source>
        <translation>endet nie</translation>
    </message>
    <message>
        <source>Most held</source>
        <translation>Höchstens gehalten</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Höchstzahl</translation>
    </message>
    <message>
        <source>Actions that run</source>
        <translation>Aktionen, die laufen</translation>
    </message>
    <message>
        <source>Last run</source>
        <translation>Letzter Lauf</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
    <message>
        <source>of this order</source>
        <translation>dieser Reihenfolge</translation>
    </message>
    <message>
        <source>place in its row</source>
        <translation>Platz in seiner Reihe</translation>
    </message>
    <message>
        <source>begins, in forwards</source>
        <translation>beginnt, in Vorwärtsläufen</translation>
    </message>
    <message>
        <source>ends</source>
        <translation>endet</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>dauert</translation>
    </message>
    <message>
        <source>needs</source>
        <translation>braucht</translation>
    </message>
    <message>
        <source>%1 of stage %2</source>
        <translation>%1 von Stufe %2</translation>
    </message>
    <message>
        <source>that one</source>
        <translation>jenes</translation>
    </message>
    <message>
        <source>is not placed yet</source>
        <translation>ist noch nicht gesetzt</translation>
    </message>
    <message>
        <source>stands at place %1</source>
        <translation>steht auf Platz %1</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>no: it stands behind one that waits</source>
        <translation>nein: es steht hinter einer Aktion, die wartet</translation>
    </message>
    <message>
        <source>Click: %1. It starts at %2, ends at %3, then the rank holds %4.</source>
        <translation>Klick: %1. Beginnt bei %2, endet bei %3, dann hält der Rang %4.</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>. Next may come %1.</source>
        <translation>. Als Nächstes darf %1 kommen.</translation>
    </message>
    <message>
        <source>Bubble of whole step</source>
        <translation>Blase des ganzen Schritts</translation>
    </message>
    <message>
        <source>a prediction</source>
        <translation>eine Vorhersage</translation>
    </message>
    <message>
        <source>a run</source>
        <translation>ein Lauf</translation>
    </message>
    <message>
        <source>a question</source>
        <translation>eine Frage</translation>
    </message>
    <message>
        <source>a goal</source>
        <translation>ein Ziel</translation>
    </message>
    <message>
        <source>something to build</source>
        <translation>etwas zum Bauen</translation>
    </message>
    <message>
        <source>Click into a row, or move to it with Tab, and type F, B or the whole row.</source>
        <translation>Klicke in eine Reihe, oder gehe mit Tab zu ihr, und tippe F, B oder die ganze Reihe.</translation>
    </message>
    <message>
        <source>waits for its own %1, which has to stand before it</source>
        <translation>wartet auf das eigene %1, das davor stehen muss</translation>
    </message>
    <message>
        <source>%1 waits for its own %2: place it before.</source>
        <translation>%1 wartet auf das eigene %2: Setze es davor.</translation>
    </message>
    <message>
        <source>the work of one rank, what must come before it, and what follows.</source>
        <translation>die Arbeit eines Rangs, was davor kommen muss und was danach folgt.</translation>
    </message>
    <message>
        <source>Click one of the dashed actions, or type F, I, W or a whole row.</source>
        <translation>Klicke auf eine der gestrichelten Aktionen, oder tippe F, I, W oder eine ganze Reihe.</translation>
    </message>
    <message>
        <source>%1 stands twice</source>
        <translation>%1 steht zweimal da</translation>
    </message>
    <message>
        <source>a drawing to check</source>
        <translation>eine Zeichnung zum Prüfen</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>%1 works from %2.</source>
        <translation>%1 arbeitet von %2.</translation>
    </message>
    <message>
        <source>critical path: it makes the length</source>
        <translation>kritischer Pfad: er macht die Länge</translation>
    </message>
    <message>
        <source>may come next</source>
        <translation>kann als Nächstes kommen</translation>
    </message>
    <message>
        <source>transfer to another rank</source>
        <translation>Übertragung zu einem anderen Rang</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>waits, though a later action could begin</source>
        <translation>wartet, obwohl eine spätere Aktion beginnen könnte</translation>
    </message>
    <message>
        <source>works here in an order that solves it</source>
        <translation>arbeitet hier in einer Reihenfolge, die es löst</translation>
    </message>
    <message>
        <source>%1, %2: %3, from %4 to %5 forwards</source>
        <translation>%1, %2: %3, von %4 bis %5 Vorwärtsläufe</translation>
    </message>
    <message>
        <source>RUN · %1 · its last action ends after %2 (one took %3)</source>
        <translation>LAUF · %1 · die letzte Aktion endet nach %2 (einer dauerte %3)</translation>
    </message>
    <message>
        <source>Critical path (1 action): %1.</source>
        <translation>Kritischer Pfad (1 Aktion): %1.</translation>
    </message>
    <message>
        <source>Critical path (%1 actions): %2.</source>
        <translation>Kritischer Pfad (%1 Aktionen): %2.</translation>
    </message>
    <message>
        <source>%1 of it are transfers.</source>
        <translation>%1 davon sind Übertragungen.</translation>
    </message>
    <message>
        <source>Ranks wait %1, all together, while a later action of theirs could begin.</source>
        <translation>Ränge warten zusammen %1, während eine spätere ihrer Aktionen beginnen könnte.</translation>
    </message>
    <message>
        <source>on the critical path</source>
        <translation>auf dem kritischen Pfad</translation>
    </message>
    <message>
        <source>yes: the order is longer if it takes longer</source>
        <translation>ja: dauert sie länger, wird die Reihenfolge länger</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>Known schedules of this work</source>
        <translation>Bekannte Ablaufpläne für diese Arbeit</translation>
    </message>
    <message>
        <source>forwards</source>
        <translation>Vorwärtsläufe</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <source>most held</source>
        <translation>höchstens gehalten</translation>
    </message>
    <message>
        <source>%1, above the limit</source>
        <translation>%1, über der Höchstzahl</translation>
    </message>
    <message>
        <source>equal lines drawn apart</source>
        <translation>gleiche Linien versetzt</translation>
    </message>
    <message>
        <source>%1, an empty row</source>
        <translation>%1, eine leere Reihe</translation>
    </message>
    <message>
        <source>%1, before position 1 of %2, %3</source>
        <translation>%1, vor Platz 1 von %2, %3</translation>
    </message>
    <message>
        <source>%1, behind position %2 of %3, %4</source>
        <translation>%1, hinter Platz %2 von %3, %4</translation>
    </message>
    <message>
        <source>; before %1</source>
        <translation>; vor %1</translation>
    </message>
    <message>
        <source>Press Rehearse to see your ranks do it</source>
        <translation>Drücke „Proben“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>von %1 bis %2</translation>
    </message>
    <message>
        <source>nothing runs</source>
        <translation>nichts läuft</translation>
    </message>
    <message>
        <source>F takes %1, I takes %2, W takes %3</source>
        <translation>dauert F %1, I %2, W %3</translation>
    </message>
    <message>
        <source>a forward takes %1, a backward %2</source>
        <translation>dauert ein Vorwärtslauf %1, ein Rückwärtslauf %2</translation>
    </message>
    <message>
        <source>one unit is the mean forward; on average %1</source>
        <translation>eine Einheit ist der mittlere Vorwärtslauf; im Mittel %1</translation>
    </message>
    <message>
        <source>one unit is the mean forward; by stage %1</source>
        <translation>eine Einheit ist der mittlere Vorwärtslauf; je Stufe %1</translation>
    </message>
    <message>
        <source>limit of stage %1</source>
        <translation>Höchstzahl von Stufe %1</translation>
    </message>
    <message>
        <source>hung</source>
        <translation>gehangen</translation>
    </message>
    <message>
        <source>ended after %1 s</source>
        <translation>nach %1 s beendet</translation>
    </message>
    <message>
        <source>%1 on stage %2, limit %3</source>
        <translation>%1 auf Stufe %2, Höchstzahl %3</translation>
    </message>
    <message>
        <source>Lessons of the playlist alone</source>
        <translation>Lektionen der Lektionenliste allein</translation>
    </message>
    <message>
        <source>sent inside a bar</source>
        <translation>innerhalb gesendet</translation>
    </message>
    <message>
        <source>forward again</source>
        <translation>Vorwärtslauf noch einmal</translation>
    </message>
    <message>
        <source>this order, over the limit</source>
        <translation>diese Reihenfolge, über der Höchstzahl,</translation>
    </message>
    <message>
        <source>over the limit</source>
        <translation>über der Höchstzahl</translation>
    </message>
    <message>
        <source>No order that keeps the limits is shorter.</source>
        <translation>Keine Reihenfolge, die die Höchstzahlen einhält, ist kürzer.</translation>
    </message>
    <message>
        <source>No order that holds at most %1 in any row is shorter.</source>
        <translation>Keine Reihenfolge, die in jeder Reihe höchstens %1 hält, ist kürzer.</translation>
    </message>
    <message>
        <source>The floor</source>
        <translation>Die Untergrenze</translation>
    </message>
    <message>
        <source>The floor within the limits</source>
        <translation>Die Untergrenze mit diesen Höchstzahlen</translation>
    </message>
    <message>
        <source>The floor with at most %1 held</source>
        <translation>Die Untergrenze mit höchstens %1 gehaltenen</translation>
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
    <name>cases</name>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>tokens per GPU</source>
        <translation>Token je GPU</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU, kausal</translation>
    </message>
    <message>
        <source>forward of a layer</source>
        <translation>Vorwärts einer Schicht</translation>
    </message>
    <message>
        <source>backward of a layer</source>
        <translation>Rückwärts einer Schicht</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>Spitzenspeicher</translation>
    </message>
    <message>
        <source>peak memory with framework</source>
        <translation>Spitzenspeicher mit Framework</translation>
    </message>
    <message>
        <source>model states</source>
        <translation>Modellzustände</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>activations of stage 0</source>
        <translation>Aktivierungen von Stufe 0</translation>
    </message>
    <message>
        <source>activations of a layer</source>
        <translation>Aktivierungen einer Schicht</translation>
    </message>
</context>
<context>
    <name>parallelarium::CaseScatter</name>
    <message>
        <source>Predicted against published</source>
        <translation>Vorhergesagt gegen veröffentlicht</translation>
    </message>
    <message>
        <source>published</source>
        <translation>veröffentlicht</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>Nothing of this is predicted.</source>
        <translation>Davon ist nichts vorhergesagt.</translation>
    </message>
    <message>
        <source>One figure: error %1 (%2).</source>
        <translation>Ein Wert: Fehler %1 (%2).</translation>
    </message>
    <message>
        <source>%1 figures: mean error %2, worst %3 (%4).</source>
        <translation>%1 Werte: mittlerer Fehler %2, größter %3 (%4).</translation>
    </message>
</context>
<context>
    <name>parallelarium::CaseTable</name>
    <message>
        <source>cannot be said</source>
        <translation>nicht einstellbar</translation>
    </message>
    <message>
        <source>not predicted</source>
        <translation>nicht vorhergesagt</translation>
    </message>
    <message>
        <source>fitted on it</source>
        <translation>daran angepasst</translation>
    </message>
    <message>
        <source>held out</source>
        <translation>zurückgehalten</translation>
    </message>
    <message>
        <source>Whether the rates of the machine were fitted on this row, or it was held out.</source>
        <translation>Ob die Raten der Maschine an diese Zeile angepasst wurden oder ob sie zurückgehalten wurde.</translation>
    </message>
    <message>
        <source>source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>row</source>
        <translation>Zeile</translation>
    </message>
    <message>
        <source>figure</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>published</source>
        <translation>veröffentlicht</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>rates</source>
        <translation>Raten</translation>
    </message>
</context>
<context>
    <name>parallelarium::CasesSheet</name>
    <message>
        <source>Published runs</source>
        <translation>Veröffentlichte Läufe</translation>
    </message>
    <message>
        <source>&amp;Open as a setup</source>
        <translation>Als Einstellungen ö&amp;ffnen</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>All sources</source>
        <translation>Alle Quellen</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>All figures</source>
        <translation>Alle Werte</translation>
    </message>
    <message>
        <source>Published figures</source>
        <translation>Veröffentlichte Werte</translation>
    </message>
    <message>
        <source>%1 cannot be said as a setup.</source>
        <translation>%1 lassen sich nicht einstellen.</translation>
    </message>
    <message>
        <source>Predicting, %1 rows left …</source>
        <translation>Vorhersage läuft, noch %1 Zeilen …</translation>
    </message>
    <message>
        <source>Cannot be said as a setup: %1</source>
        <translation>Lässt sich nicht einstellen: %1</translation>
    </message>
    <message>
        <source>What the source does not say</source>
        <translation>Was die Quelle nicht sagt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>All models</source>
        <translation>Alle Modelle</translation>
    </message>
</context>
<context>
    <name>collectives</name>
    <message>
        <source>All-reduce</source>
        <translation>All-Reduce</translation>
    </message>
    <message>
        <source>All-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <source>Reduce-scatter</source>
        <translation>Reduce-Scatter</translation>
    </message>
    <message>
        <source>All-to-all</source>
        <translation>All-to-All</translation>
    </message>
    <message>
        <source>Broadcast</source>
        <translation>Broadcast</translation>
    </message>
    <message>
        <source>Scatter</source>
        <translation>Scatter</translation>
    </message>
    <message>
        <source>Gather</source>
        <translation>Gather</translation>
    </message>
    <message>
        <source>Reduce</source>
        <translation>Reduce</translation>
    </message>
    <message>
        <source>Switch</source>
        <translation>Switch</translation>
    </message>
    <message>
        <source>Ring of links</source>
        <translation>Verbindungsring</translation>
    </message>
    <message>
        <source>2-D torus</source>
        <translation>2D-Torus</translation>
    </message>
    <message>
        <source>Two levels</source>
        <translation>Zwei Ebenen</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>root %1</source>
        <translation>Wurzel %1</translation>
    </message>
    <message>
        <source>Steps in time</source>
        <translation>Schritte in der Zeit</translation>
    </message>
    <message>
        <source>above %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <source>repeat %1 of %2, the median</source>
        <translation>Wiederholung %1 von %2, der Median</translation>
    </message>
    <message>
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <source>assumed links, %1 and %2; a run is on this computer</source>
        <translation>angenommene Verbindungen, %1 und %2; ein Lauf ist auf diesem Rechner</translation>
    </message>
    <message>
        <source>run of other settings: %1</source>
        <translation>Lauf mit anderen Einstellungen: %1</translation>
    </message>
    <message>
        <source>press Run to see your ranks do it</source>
        <translation>drücke „Starten“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>≤ %1</source>
        <translation>≤ %1</translation>
    </message>
    <message>
        <source>Sent per rank</source>
        <translation>Gesendet je Rang</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Algorithm bandwidth</source>
        <translation>Alg.-Bandbreite</translation>
    </message>
    <message>
        <source>Bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <source>Cost of this run</source>
        <translation>Kosten dieses Laufs</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <source>not run</source>
        <translation>kein Lauf</translation>
    </message>
    <message>
        <source>Run it, and every cell of every rank is compared.</source>
        <translation>Drücke „Starten“, dann wird jede Zelle jedes Rangs verglichen.</translation>
    </message>
    <message>
        <source>%1: verified cell by cell.</source>
        <translation>%1: Zelle für Zelle geprüft.</translation>
    </message>
    <message>
        <source>%1 cells are wrong.</source>
        <translation>%1 Zellen sind falsch.</translation>
    </message>
    <message>
        <source>The first: rank %1, element %2 is %3, not %4.</source>
        <translation>Die erste: Rang %1, Element %2 ist %3, nicht %4.</translation>
    </message>
    <message>
        <source>Left: the all-reduce. Right: a reduce-scatter, then an all-gather.</source>
        <translation>Links: das All-Reduce. Rechts: ein Reduce-Scatter, dann ein All-Gather.</translation>
    </message>
    <message>
        <source>All %1 chunks hold the same.</source>
        <translation>Alle %1 Stücke halten dasselbe.</translation>
    </message>
    <message>
        <source>%1 of %2 chunks hold the same now.</source>
        <translation>%1 von %2 Stücken halten jetzt dasselbe.</translation>
    </message>
    <message>
        <source>arrived on each rank, by where it came from</source>
        <translation>auf jedem Rang angekommen, nach Herkunft</translation>
    </message>
    <message>
        <source>The result, bit by bit</source>
        <translation>Das Ergebnis, Bit für Bit</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <source>marked: chunks with elements that another order of adding gives other bits</source>
        <translation>markiert: Stücke mit Elementen, denen eine andere Additionsreihenfolge andere Bits gibt</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>links: %1, latency %2, %3</source>
        <translation>Verbindungen: %1, Latenz %2, %3</translation>
    </message>
    <message>
        <source>predicted: %1 is quickest at every size</source>
        <translation>vorhergesagt: %1 ist bei jeder Größe am schnellsten</translation>
    </message>
    <message>
        <source>predicted: %1 for small messages, %2 from %3</source>
        <translation>vorhergesagt: erst %1, ab %3 %2</translation>
    </message>
    <message>
        <source>predicted: %1 for small messages, %2 for large</source>
        <translation>vorhergesagt: %1 für kleine Nachrichten, %2 für große</translation>
    </message>
    <message>
        <source>BUS BANDWIDTH BY MESSAGE SIZE</source>
        <translation>BUSBANDBREITE NACH GRÖSSE</translation>
    </message>
    <message>
        <source>Bus bandwidth by message size: %1.</source>
        <translation>Busbandbreite nach Nachrichtengröße: %1.</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>verborgen</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>all the same</source>
        <translation>alle gleich</translation>
    </message>
    <message>
        <source>Bits are compared where a second algorithm works with so many ranks and all arrays together take at most 256 MiB</source>
        <translation>Bits werden verglichen, wo ein zweiter Algorithmus mit so vielen Rängen geht und alle Arrays zusammen höchstens 256 MiB brauchen</translation>
    </message>
    <message>
        <source>%1 combines nothing, so no bits can differ</source>
        <translation>%1 verknüpft nichts, also können keine Bits abweichen</translation>
    </message>
    <message>
        <source>one chunk</source>
        <translation>ein Stück</translation>
    </message>
    <message>
        <source>%1 chunks</source>
        <translation>%1 Stücke</translation>
    </message>
    <message>
        <source>who combine it with their own</source>
        <translation>die das Eigene damit verknüpfen</translation>
    </message>
    <message>
        <source>who adds it to its own</source>
        <translation>der das Eigene dazu addiert</translation>
    </message>
    <message>
        <source>who combines it with its own</source>
        <translation>der das Eigene damit verknüpft</translation>
    </message>
    <message>
        <source>who keep it</source>
        <translation>die das Empfangene behalten</translation>
    </message>
    <message>
        <source>who keeps it</source>
        <translation>der das Empfangene behält</translation>
    </message>
    <message>
        <source>who combine them with their own</source>
        <translation>die das Eigene damit verknüpfen</translation>
    </message>
    <message>
        <source>who adds them to its own</source>
        <translation>der das Eigene dazu addiert</translation>
    </message>
    <message>
        <source>who combines them with its own</source>
        <translation>der das Eigene damit verknüpft</translation>
    </message>
    <message>
        <source>who keep them</source>
        <translation>die das Empfangene behalten</translation>
    </message>
    <message>
        <source>who keeps them</source>
        <translation>der das Empfangene behält</translation>
    </message>
    <message>
        <source>copies share the computer&apos;s memory</source>
        <translation>Kopien teilen sich den Speicher des Computers</translation>
    </message>
    <message>
        <source>messages share the links there are</source>
        <translation>Nachrichten teilen sich die vorhandenen Leitungen</translation>
    </message>
    <message>
        <source>= %1, × %2</source>
        <translation>= %1, × %2</translation>
    </message>
    <message>
        <source>product</source>
        <translation>Produkt</translation>
    </message>
    <message>
        <source>smallest</source>
        <translation>kleinster Wert</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>größter Wert</translation>
    </message>
    <message>
        <source>average</source>
        <translation>Mittelwert</translation>
    </message>
    <message>
        <source>sum</source>
        <translation>Summe</translation>
    </message>
    <message>
        <source>reduce</source>
        <translation>Reduce</translation>
    </message>
    <message>
        <source>reduce-scatter</source>
        <translation>Reduce-Scatter</translation>
    </message>
    <message>
        <source>broadcast</source>
        <translation>Broadcast</translation>
    </message>
    <message>
        <source>all-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <source>nothing is sent</source>
        <translation>nichts wird gesendet</translation>
    </message>
    <message>
        <source>chunks</source>
        <translation>Stücke</translation>
    </message>
    <message>
        <source>its right neighbour</source>
        <translation>seinen rechten Nachbarn</translation>
    </message>
    <message>
        <source>its left neighbour</source>
        <translation>seinen linken Nachbarn</translation>
    </message>
    <message>
        <source>the rank %1 to its right</source>
        <translation>den %1. Rang rechts von sich</translation>
    </message>
    <message>
        <source>every rank sends %1 to %2, %3</source>
        <translation>jeder Rang sendet %1 an %2, %3</translation>
    </message>
    <message>
        <source>every rank sends %1 to every other, %2</source>
        <translation>jeder Rang sendet %1 an jeden der anderen, %2</translation>
    </message>
    <message>
        <source>rank %1 sends %2 to each of %3 ranks, %4</source>
        <translation>Rang %1 sendet %2 an jeden von %3 Rängen, %4</translation>
    </message>
    <message>
        <source>%1 ranks send %2 each to rank %3, %4</source>
        <translation>%1 Ränge senden je %2 an Rang %3, %4</translation>
    </message>
    <message>
        <source>rank %1 sends %2 to rank %3, %4</source>
        <translation>Rang %1 sendet %2 an Rang %3, %4</translation>
    </message>
    <message>
        <source>partners %1 apart exchange %2, %3</source>
        <translation>%2 tauschen Partner im Abstand %1, %3</translation>
    </message>
    <message>
        <source>%1 messages of %2, %3</source>
        <translation>%1 Nachrichten (%2) an Ränge, %3</translation>
    </message>
    <message>
        <source>%1 messages of %2, combined or kept</source>
        <translation>%1 Nachrichten (%2), verknüpft oder behalten</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 – %2</translation>
    </message>
    <message>
        <source>%1 in each of %2 messages of this step</source>
        <translation>%1 in jeder von %2 Nachrichten dieses Schritts</translation>
    </message>
    <message>
        <source>%1 on every link in this step</source>
        <translation>%1 auf jeder Verbindung in diesem Schritt</translation>
    </message>
    <message>
        <source>%1 on one link in this step</source>
        <translation>%1 auf einer Verbindung in diesem Schritt</translation>
    </message>
    <message>
        <source>%1 on each of %2 links in this step</source>
        <translation>%1 auf jeder von %2 Verbindungen in diesem Schritt</translation>
    </message>
    <message>
        <source>each rank</source>
        <translation>jeder Rang</translation>
    </message>
    <message>
        <source>rank %1, the busiest,</source>
        <translation>Rang %1, der am meisten sendet,</translation>
    </message>
    <message>
        <source>%1 has sent %2 of its %3</source>
        <translation>%1 hat %2 von %3 gesendet</translation>
    </message>
    <message>
        <source>the one rank</source>
        <translation>dem einen Rang</translation>
    </message>
    <message>
        <source>all %1 ranks</source>
        <translation>allen %1 Rängen</translation>
    </message>
    <message>
        <source>Every chunk ends as the %1 of %2, on every rank</source>
        <translation>Jedes Stück endet auf jedem Rang als %1 von %2</translation>
    </message>
    <message>
        <source>Every rank ends with its own chunk, the %1 of %2</source>
        <translation>Jeder Rang hat am Ende sein eigenes Stück, als %1 von %2</translation>
    </message>
    <message>
        <source>Every chunk ends as the %1 of %2, on rank %3</source>
        <translation>Jedes Stück endet auf Rang %3 als %1 von %2</translation>
    </message>
    <message>
        <source>Every rank ends with the chunks of %1</source>
        <translation>Jeder Rang hat am Ende die Stücke von %1</translation>
    </message>
    <message>
        <source>Rank %1 ends with the chunks of %2</source>
        <translation>Rang %1 hat am Ende die Stücke von %2</translation>
    </message>
    <message>
        <source>Every rank ends with its own chunk of what rank %1 had</source>
        <translation>Jeder Rang hat am Ende sein eigenes Stück von dem, was Rang %1 hatte</translation>
    </message>
    <message>
        <source>Every rank ends with all that rank %1 had</source>
        <translation>Jeder Rang hat am Ende alles, was Rang %1 hatte</translation>
    </message>
    <message>
        <source>Every rank ends with what all the others had for it</source>
        <translation>Jeder Rang hat am Ende, was alle anderen für ihn hatten</translation>
    </message>
    <message>
        <source>%1 against %2, same inexact inputs: </source>
        <translation>%1 gegen %2, gleiche ungenaue Eingaben: </translation>
    </message>
    <message>
        <source>every bit is the same, since two numbers have one sum</source>
        <translation>jedes Bit ist gleich, denn zwei Zahlen haben nur eine Summe</translation>
    </message>
    <message>
        <source>every bit is the same</source>
        <translation>jedes Bit ist gleich</translation>
    </message>
    <message>
        <source>%1 of %2 elements differ, by at most %3 in the last place</source>
        <translation>%1 von %2 Elementen weichen ab, um höchstens %3 in der letzten Stelle</translation>
    </message>
    <message>
        <source>1 unit</source>
        <translation>1 Einheit</translation>
    </message>
    <message>
        <source>%1 units</source>
        <translation>%1 Einheiten</translation>
    </message>
    <message>
        <source>ranks differ among themselves</source>
        <translation>die Ränge weichen voneinander ab</translation>
    </message>
    <message>
        <source>Chunk %1 from rank %2 to rank %3</source>
        <translation>Stück %1 von Rang %2 zu Rang %3</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>carries</source>
        <translation>trägt</translation>
    </message>
    <message>
        <source>combines</source>
        <translation>verknüpft – mit</translation>
    </message>
    <message>
        <source>%1 with %2</source>
        <translation>%1 mit %2</translation>
    </message>
    <message>
        <source>brings</source>
        <translation>bringt</translation>
    </message>
    <message>
        <source>%1: waited</source>
        <translation>%1: gewartet</translation>
    </message>
    <message>
        <source>%1: transferred in</source>
        <translation>%1: übertragen in</translation>
    </message>
    <message>
        <source>One rank has nothing to send.</source>
        <translation>Ein einzelner Rang hat nichts zu senden.</translation>
    </message>
    <message>
        <source>%1 chunks are under way, %2 of this step have arrived. </source>
        <translation>%1 Stücke sind unterwegs, %2 dieses Schritts sind angekommen. </translation>
    </message>
    <message>
        <source>Rank %1 holds %2. </source>
        <translation>Rang %1 hält %2. </translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>A run&apos;s time is from when its last rank began to when its last one ended.</source>
        <translation>Die Zeit eines Laufs reicht vom Beginn seines letzten Rangs bis zum Ende seines letzten.</translation>
    </message>
    <message>
        <source>run: %1 from the dotted line</source>
        <translation>Lauf: %1 ab der gepunkteten Linie</translation>
    </message>
    <message>
        <source>Nothing to send: one rank</source>
        <translation>Nichts zu senden: ein Rang</translation>
    </message>
    <message>
        <source>the rank has all that it needs</source>
        <translation>der Rang hat alles, was er braucht</translation>
    </message>
    <message>
        <source>this run</source>
        <translation>dieser Lauf</translation>
    </message>
    <message>
        <source>once a step</source>
        <translation>einmal je Schritt</translation>
    </message>
    <message>
        <source>%1 times a step</source>
        <translation>%1-mal je Schritt</translation>
    </message>
    <message>
        <source>%1, %2 ranks · %3, %4</source>
        <translation>%1, %2 Ränge · %3, %4</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>a collective and what it carries</comment>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>experts</name>
    <message>
        <source>router</source>
        <translation>Router</translation>
    </message>
    <message>
        <source>dispatch</source>
        <translation>Dispatch</translation>
    </message>
    <message>
        <source>expert MLPs</source>
        <translation>Experten-MLPs</translation>
    </message>
    <message>
        <source>waiting for the last rank</source>
        <translation>Warten auf den letzten Rang</translation>
    </message>
    <message>
        <source>combine</source>
        <translation>Combine</translation>
    </message>
    <message>
        <source>balance loss %1</source>
        <translation>Ausgleichsverlust %1</translation>
    </message>
    <message>
        <source>bias rate %1</source>
        <translation>Bias-Rate %1</translation>
    </message>
    <message>
        <source>z-loss %1</source>
        <translation>z-Verlust %1</translation>
    </message>
    <message>
        <source>%1 router</source>
        <translation>Router %1</translation>
    </message>
    <message>
        <source>skew %1</source>
        <translation>Schiefe %1</translation>
    </message>
    <message>
        <source>capacity %1</source>
        <translation>Kapazität %1</translation>
    </message>
    <message>
        <source>learning rate %1</source>
        <translation>Lernrate %1</translation>
    </message>
    <message>
        <source>%1 experts</source>
        <translation>%1 Experten</translation>
    </message>
    <message>
        <source>%1, training step %2</source>
        <translation>%1, Trainingsschritt %2</translation>
    </message>
    <message>
        <source>Layer %1 in time</source>
        <translation>Schicht %1 in der Zeit</translation>
    </message>
    <message>
        <source>, by the run&apos;s routing</source>
        <translation>, nach dem Routing des Laufs</translation>
    </message>
    <message>
        <source>above %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <source>first %1 of %2 ranks</source>
        <translation>erste %1 von %2 Rängen</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>router and expert MLPs</source>
        <translation>Router und Experten-MLPs</translation>
    </message>
    <message>
        <source>dispatch and combine</source>
        <translation>Dispatch und Combine</translation>
    </message>
    <message>
        <source>Balance loss / α (1 is even)</source>
        <translation>Ausgleichsverlust / α (1: gleichmäßig)</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>Verworfen</translation>
    </message>
    <message>
        <source>none, dropless</source>
        <translation>keine, dropless</translation>
    </message>
    <message>
        <source>%1 of %2, %3</source>
        <translation>%1 von %2, %3</translation>
    </message>
    <message>
        <source>Fullest rank / mean</source>
        <translation>Vollster Rang / Mittel</translation>
    </message>
    <message>
        <source>Capacity (dashed)</source>
        <translation>Kapazität (gestrichelt)</translation>
    </message>
    <message>
        <source>%1 ranks × %2 = %3</source>
        <translation>%1 Ränge × %2 = %3</translation>
    </message>
    <message>
        <source>and 1 more rank</source>
        <translation>und 1 weiterer Rang</translation>
    </message>
    <message>
        <source>and %1 more ranks</source>
        <translation>und %1 weitere Ränge</translation>
    </message>
    <message>
        <source>Tokens at home</source>
        <translation>Token zu Hause</translation>
    </message>
    <message>
        <source>first %1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>All-to-all, tokens sent</source>
        <translation>All-to-All, gesendete Token</translation>
    </message>
    <message>
        <source>Tokens sent, run</source>
        <translation>Gesendete Token, Lauf</translation>
    </message>
    <message>
        <source>Tokens sent</source>
        <translation>Gesendete Token</translation>
    </message>
    <message>
        <source>Dashed: stays home. %1 travel, and come back.</source>
        <translation>Gestrichelt: bleibt zu Hause. %1 gehen hin und kommen zurück.</translation>
    </message>
    <message>
        <source>Experts, by their rank</source>
        <translation>Experten, nach ihrem Rang</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>%1, run</source>
        <translation>%1, Lauf</translation>
    </message>
    <message>
        <source>%1 dropped</source>
        <translation>%1 verworfen</translation>
    </message>
    <message>
        <source>? hidden for now</source>
        <translation>? vorerst verborgen</translation>
    </message>
    <message>
        <source>Not run: the last run is of other settings</source>
        <translation>Nicht gelaufen: der letzte Lauf hat andere Einstellungen</translation>
    </message>
    <message>
        <source>Not run yet: press %1 to see your ranks do it</source>
        <translation>Noch nicht gelaufen: drücke „%1“, um deine Ränge arbeiten zu sehen</translation>
    </message>
    <message>
        <source>Not run: %1</source>
        <translation>Nicht gelaufen: %1</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>pinned run</source>
        <translation>angehefteter Lauf</translation>
    </message>
    <message>
        <source>A program of this size is made of whole stages; its layers have no times.</source>
        <translation>Ein Programm dieser Größe besteht aus ganzen Stufen; seine Schichten haben keine Zeiten.</translation>
    </message>
    <message>
        <source>There are no times of this layer.</source>
        <translation>Von dieser Schicht gibt es keine Zeiten.</translation>
    </message>
    <message>
        <source>Choices by home, run</source>
        <translation>Zuordnungen je Rang, Lauf</translation>
    </message>
    <message>
        <source>%1 each</source>
        <translation>je %1</translation>
    </message>
    <message>
        <source>Fullest expert / mean, by step</source>
        <translation>Vollster Experte / Mittel, je Schritt</translation>
    </message>
    <message>
        <source>Expert routing, run, training step %1</source>
        <translation>Experten-Routing, Lauf, Trainingsschritt %1</translation>
    </message>
    <message>
        <source>Expert routing</source>
        <translation>Experten-Routing</translation>
    </message>
    <message>
        <source>%1 experts on every rank</source>
        <translation>%1 Experten auf jedem Rang</translation>
    </message>
    <message>
        <source>%1 experts on %2 ranks</source>
        <translation>%1 Experten auf %2 Rängen</translation>
    </message>
    <message>
        <source>top-%1 of %2 tokens a rank</source>
        <translation>Top-%1 von %2 Token je Rang</translation>
    </message>
    <message>
        <source>dropless</source>
        <translation>dropless</translation>
    </message>
    <message>
        <source>layer %1, micro-batch %2</source>
        <translation>Schicht %1, Mikro-Batch %2</translation>
    </message>
    <message>
        <source>EP 1: every expert is at home and nothing travels.</source>
        <translation>EP 1: jeder Experte ist zu Hause, und nichts wird gesendet.</translation>
    </message>
    <message>
        <source>By tokens, all ranks are equally full: each receives %1 of %2.</source>
        <translation>Nach Token sind alle Ränge gleich voll: jeder erhält %1 von %2.</translation>
    </message>
    <message>
        <source>By tokens, rank %1 is the fullest: it receives %2 of %3, %4× the mean.</source>
        <translation>Nach Token ist Rang %1 der vollste: er erhält %2 von %3, %4× das Mittel.</translation>
    </message>
    <message>
        <source>Expert %1 on rank %2</source>
        <translation>Experte %1 auf Rang %2</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <source>%1 of %2 choices</source>
        <translation>%1 von %2 Zuordnungen</translation>
    </message>
    <message>
        <source>capacity for each home</source>
        <translation>Kapazität je Heimatrang</translation>
    </message>
    <message>
        <source>rank %1: %2</source>
        <translation>Rang %1: %2</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>Choices of rank %1 that stay at home</source>
        <translation>Zuordnungen von Rang %1, die zu Hause bleiben</translation>
    </message>
    <message>
        <source>Choices sent from rank %1 to rank %2</source>
        <translation>Von Rang %1 an Rang %2 gesendete Zuordnungen</translation>
    </message>
    <message>
        <source>choices</source>
        <translation>Zuordnungen</translation>
    </message>
    <message>
        <source>would be</source>
        <translation>wären</translation>
    </message>
    <message>
        <source>dispatch and combine, each</source>
        <translation>Dispatch und Combine, je</translation>
    </message>
    <message>
        <source>exactly</source>
        <translation>genau</translation>
    </message>
    <message>
        <source>By time, rank %1&apos;s experts end last; the others wait up to %2, %3 of the layer (%4).</source>
        <translation>Nach Zeit enden die Experten von Rang %1 zuletzt; die anderen warten bis zu %2, %3 der Schicht (%4).</translation>
    </message>
    <message>
        <source>%1: %2 to %3</source>
        <translation>%1: %2 bis %3</translation>
    </message>
    <message>
        <source>Fullest expert over the mean, first to last training step: %1</source>
        <translation>Vollster Experte durch Mittel, erster bis letzter Trainingsschritt: %1</translation>
    </message>
    <message>
        <source>hidden for now</source>
        <translation>vorerst verborgen</translation>
    </message>
    <message>
        <source>rank %1 %2</source>
        <translation>Rang %1 %2</translation>
    </message>
    <message>
        <source>not in this layer</source>
        <translation>nicht in dieser Schicht</translation>
    </message>
    <message>
        <source>Now: %1; %2 of the dispatch and %3 of the combine are done</source>
        <translation>Jetzt: %1; %2 des Dispatch und %3 des Combine sind fertig</translation>
    </message>
    <message>
        <source>expert %1: %2</source>
        <translation>Experte %1: %2</translation>
    </message>
    <message>
        <source>and %1 dropped</source>
        <translation>und %1 verworfen</translation>
    </message>
    <message>
        <source>Balance loss over alpha %1 (1 is even)</source>
        <translation>Ausgleichsverlust durch Alpha %1 (1 ist gleichmäßig)</translation>
    </message>
    <message>
        <source>(a run tells)</source>
        <translation>(ein Lauf sagt es)</translation>
    </message>
    <message>
        <source>The balance loss needs a run: a skew moves the tokens&apos; choices, not the routers&apos; affinities</source>
        <translation>Der Ausgleichsverlust braucht einen Lauf: Eine Schiefe verschiebt die Wahl der Token, nicht die Affinitäten der Router</translation>
    </message>
    <message>
        <source>Balance loss / α</source>
        <translation>Ausgleichsverlust / α</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>An older version measured the cores and did not tell how they multiplied bf16: times in bf16 may be off until Run, Calibrate measures again.</source>
        <translation>Eine ältere Version hat die Kerne gemessen und nicht gesagt, wie sie bf16 multiplizierten: Zeiten in bf16 können falsch sein, bis Starten, Kalibrieren neu misst.</translation>
    </message>
    <message>
        <source>The cores multiply bf16 in another way than when they were measured: times in bf16 are off until Run, Calibrate measures again.</source>
        <translation>Die Kerne multiplizieren bf16 anders als bei ihrer Messung: Zeiten in bf16 sind falsch, bis Starten, Kalibrieren neu misst.</translation>
    </message>
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
        <source>rehearsed</source>
        <translation>geprobt</translation>
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
    <message>
        <source>predicted, published efficiencies</source>
        <translation>vorhergesagt, Literaturwerte</translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 Minute</translation>
    </message>
    <message>
        <source>%1 minutes</source>
        <translation>%1 Minuten</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <source>%1 days</source>
        <translation>%1 Tage</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
</context>
<context>
    <name>limits</name>
    <message>
        <source>the bubble of the whole step</source>
        <translation>die Blase am ganzen Schritt</translation>
    </message>
    <message>
        <source>the step time</source>
        <translation>die Schrittdauer</translation>
    </message>
    <message>
        <source>the tokens per second</source>
        <translation>die Token je Sekunde</translation>
    </message>
    <message>
        <source>the exposed communication</source>
        <translation>die unverdeckte Kommunikation</translation>
    </message>
    <message>
        <source>the MFU</source>
        <translation>die MFU</translation>
    </message>
    <message>
        <source>the number of ranks</source>
        <translation>die Zahl der Ränge</translation>
    </message>
    <message>
        <source>what a rank sends of one kind</source>
        <translation>was ein Rang von einer Art sendet</translation>
    </message>
    <message>
        <source>the parameters on a rank</source>
        <translation>die Parameter auf einem Rang</translation>
    </message>
    <message>
        <source>the gradients on a rank</source>
        <translation>die Gradienten auf einem Rang</translation>
    </message>
    <message>
        <source>the micro-batches held at most</source>
        <translation>die höchstens gehaltenen Mikro-Batches</translation>
    </message>
    <message>
        <source>the micro-batches held by stage %1</source>
        <translation>die von Stufe %1 gehaltenen Mikro-Batches</translation>
    </message>
    <message>
        <source>the peak memory of stage %1</source>
        <translation>die Speicherspitze von Stufe %1</translation>
    </message>
    <message>
        <source>the time</source>
        <translation>die Zeit</translation>
    </message>
    <message>
        <source>the bus bandwidth</source>
        <translation>die Busbandbreite</translation>
    </message>
    <message>
        <source>the share of right results</source>
        <translation>der Anteil richtiger Ergebnisse</translation>
    </message>
    <message>
        <source>what a rank sends at most</source>
        <translation>was ein Rang höchstens sendet</translation>
    </message>
    <message>
        <source>To pass, %1 must lie between %2 and %3; in this run it is %4.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ zwischen %2 und %3 liegen; in diesem Lauf ist er %4.</translation>
    </message>
    <message>
        <source>To pass, %1 must be %2; in this run it is %3.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <source>To pass, %1 must be at least %2; in this run it is %3.</source>
        <translation>Zum Bestehen muss der Wert für „%1“ mindestens %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <source>To pass, %1 must be at most %2; in this run it is %3.</source>
        <translation>Zum Bestehen darf der Wert für „%1“ höchstens %2 sein; in diesem Lauf ist er %3.</translation>
    </message>
    <message>
        <source>You went on with this run: the check is **not met**.</source>
        <translation>Du bist mit diesem Lauf weitergegangen: die Prüfung ist **nicht bestanden**.</translation>
    </message>
    <message>
        <source>%1, in a run</source>
        <translation>%1, in einem Lauf</translation>
    </message>
    <message>
        <source>Every rank comes to its end</source>
        <translation>Jeder Rang kommt ans Ende</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>Everything is placed</source>
        <translation>Alles ist gesetzt</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>At most %1 forwards long</source>
        <translation>Höchstens %1 Vorwärtsläufe lang</translation>
    </message>
    <message>
        <source>not yet known</source>
        <translation>noch nicht bekannt</translation>
    </message>
    <message>
        <source>At most %1 held</source>
        <translation>Höchstens %1 gehalten</translation>
    </message>
    <message>
        <source>At most %1 held on stage %2</source>
        <translation>Höchstens %1 auf Stufe %2 gehalten</translation>
    </message>
    <message>
        <source>the peak memory of the fullest rank</source>
        <translation>die Speicherspitze des vollsten Rangs</translation>
    </message>
    <message>
        <source>none is stuck</source>
        <translation>keiner hängt</translation>
    </message>
    <message>
        <source>the parameters of the model</source>
        <translation>die Parameter des Modells</translation>
    </message>
    <message>
        <source>the bubble over ideal time</source>
        <translation>die Blase über der idealen Zeit</translation>
    </message>
    <message>
        <source>the share of dropped rows</source>
        <translation>der Anteil verworfener Zeilen</translation>
    </message>
    <message>
        <source>rows of the fullest rank over the mean</source>
        <translation>Zeilen des vollsten Ranges über dem Mittel</translation>
    </message>
    <message>
        <source>rows of the fullest expert over the mean</source>
        <translation>Zeilen des vollsten Experten über dem Mittel</translation>
    </message>
    <message>
        <source>the most rows that an expert keeps</source>
        <translation>die meisten Zeilen, die ein Experte behält</translation>
    </message>
    <message>
        <source>the ranks with equal weights</source>
        <translation>die Ränge mit gleichen Gewichten</translation>
    </message>
    <message>
        <source>the ranks with other weights</source>
        <translation>die Ränge mit anderen Gewichten</translation>
    </message>
    <message>
        <source>the distance between the ranks&apos; losses</source>
        <translation>der Abstand zwischen den Verlusten der Ränge</translation>
    </message>
    <message>
        <source>the noise scale of gradients, in sequences</source>
        <translation>die Rauschskala der Gradienten, in Sequenzen</translation>
    </message>
    <message>
        <source>the loss after step %1</source>
        <translation>der Verlust nach Schritt %1</translation>
    </message>
    <message>
        <source>what a rank sends</source>
        <translation>was ein Rang sendet</translation>
    </message>
    <message>
        <source>the number of messages of a rank (%1)</source>
        <translation>die Zahl der Nachrichten eines Ranges (%1)</translation>
    </message>
    <message>
        <source>what a rank receives (%1)</source>
        <translation>was ein Rang empfängt (%1)</translation>
    </message>
    <message>
        <source>what a rank sends (%1)</source>
        <translation>was ein Rang sendet (%1)</translation>
    </message>
    <message>
        <source>the optimizer states on a rank</source>
        <translation>die Optimiererzustände auf einem Rang</translation>
    </message>
    <message>
        <source>the activations on a rank</source>
        <translation>die Aktivierungen auf einem Rang</translation>
    </message>
    <message>
        <source>the number of steps</source>
        <translation>die Zahl der Schritte</translation>
    </message>
    <message>
        <source>the largest difference from one rank</source>
        <translation>die größte Abweichung von einem Rang</translation>
    </message>
    <message>
        <source>the difference of gradients from one rank</source>
        <translation>die Abweichung der Gradienten von einem Rang</translation>
    </message>
    <message>
        <source>the difference of losses from one rank</source>
        <translation>die Abweichung der Verluste von einem Rang</translation>
    </message>
    <message>
        <source>To pass, the proof must hold; the run differs from one rank by more than rounding explains.</source>
        <translation>Zum Bestehen muss der Beweis halten; der Lauf weicht von einem Rang mehr ab, als Rundung erklärt.</translation>
    </message>
    <message>
        <source>the proof, 1 where it holds</source>
        <translation>der Beweis, 1, wo er hält</translation>
    </message>
    <message>
        <source>%1: reached.</source>
        <translation>%1: erreicht.</translation>
    </message>
    <message>
        <source>%1: not yet.</source>
        <translation>%1: noch nicht.</translation>
    </message>
    <message>
        <source>the predicted %1</source>
        <translation>die vorhergesagten %1</translation>
    </message>
    <message>
        <source>%1 must be at most %2</source>
        <translation>%1 darf höchstens %2 sein</translation>
    </message>
    <message>
        <source>%1 must be at least %2</source>
        <translation>%1 muss mindestens %2 sein</translation>
    </message>
    <message>
        <source>%1 must be less than %2</source>
        <translation>%1 muss unter %2 sein</translation>
    </message>
    <message>
        <source>%1 must be more than %2</source>
        <translation>%1 muss über %2 sein</translation>
    </message>
    <message>
        <source>%1 must not be %2</source>
        <translation>%1 darf nicht %2 sein</translation>
    </message>
    <message>
        <source>%1 must be %2</source>
        <translation>%1 muss %2 sein</translation>
    </message>
    <message>
        <source>%1: hidden until you commit.</source>
        <translation>%1: verborgen, bis du dich festlegst.</translation>
    </message>
    <message>
        <source>is %1</source>
        <translation>ist %1</translation>
    </message>
    <message>
        <source>No rank is stuck so far.</source>
        <translation>Bisher steckt kein Rang fest.</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>A workbench for distributed training: predicted and measured, side by side.</source>
        <translation>Eine Werkbank für verteiltes Training: vorhergesagt und gemessen nebeneinander.</translation>
    </message>
    <message>
        <source>A document, a setup, or a picture exported from here.</source>
        <translation>Ein Dokument, Einstellungen oder ein von hier exportiertes Bild.</translation>
    </message>
    <message>
        <source>Write a picture of the whole window.</source>
        <translation>Ein Bild des ganzen Fensters schreiben.</translation>
    </message>
    <message>
        <source>Open this setup or document.</source>
        <translation>Diese Einstellungen oder dieses Dokument öffnen.</translation>
    </message>
    <message>
        <source>Run the setup first.</source>
        <translation>Die Einstellungen zuerst laufen lassen.</translation>
    </message>
    <message>
        <source>Run it, and prove it on one rank.</source>
        <translation>Laufen lassen und auf einem Rang beweisen.</translation>
    </message>
    <message>
        <source>Logical size of the picture.</source>
        <translation>Logische Größe des Bildes.</translation>
    </message>
    <message>
        <source>Pixels per logical pixel: 0.5 to 8.</source>
        <translation>Pixel je logischem Pixel: 0.5 bis 8.</translation>
    </message>
    <message>
        <source>Show the moment at this share of the step, 0 to 1.</source>
        <translation>Den Augenblick bei diesem Anteil des Schritts zeigen, 0 bis 1.</translation>
    </message>
    <message>
        <source>Collectives view, what chunks show: contributions, values or bits.</source>
        <translation>Kollektivansicht, was Stücke zeigen: contributions (Beiträge), values (Werte) oder bits.</translation>
    </message>
    <message>
        <source>Collectives view: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, scatter, gather or reduce.</source>
        <translation>Kollektivansicht: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, scatter, gather oder reduce.</translation>
    </message>
    <message>
        <source>Collectives view: ring, direct, ... of that collective.</source>
        <translation>Kollektivansicht: ring, direct, ... dieses Kollektivs.</translation>
    </message>
    <message>
        <source>Collectives view: 1 to 16 ranks.</source>
        <translation>Kollektivansicht: 1 bis 16 Ränge.</translation>
    </message>
    <message>
        <source>Collectives view: size of the array, such as 4MiB.</source>
        <translation>Kollektivansicht: Größe des Arrays, etwa 4MiB.</translation>
    </message>
    <message>
        <source>Collectives view: root of broadcast, scatter, gather, reduce.</source>
        <translation>Kollektivansicht: Wurzel von broadcast, scatter, gather, reduce.</translation>
    </message>
    <message>
        <source>Collectives view: float32, float64, bfloat16 or int32.</source>
        <translation>Kollektivansicht: float32, float64, bfloat16 oder int32.</translation>
    </message>
    <message>
        <source>Collectives view: sum, prod, min, max or avg.</source>
        <translation>Kollektivansicht: sum, prod, min, max oder avg.</translation>
    </message>
    <message>
        <source>Collectives view: memory (this computer), switch, ring, torus or two-level.</source>
        <translation>Kollektivansicht: memory (dieser Rechner), switch, ring, torus oder two-level.</translation>
    </message>
    <message>
        <source>Collectives view: of a link, such as 2us; not of this computer.</source>
        <translation>Kollektivansicht: einer Verbindung, etwa 2us; nicht bei diesem Rechner.</translation>
    </message>
    <message>
        <source>Collectives view: of a link, such as 50GB/s.</source>
        <translation>Kollektivansicht: einer Verbindung, etwa 50GB/s.</translation>
    </message>
    <message>
        <source>Dark colours.</source>
        <translation>Dunkle Farben.</translation>
    </message>
    <message>
        <source>light or dark.</source>
        <translation>light (hell) oder dark (dunkel).</translation>
    </message>
    <message>
        <source>Print the manual page (man), or the completion for bash, zsh or fish.</source>
        <translation>Die Handbuchseite (man) oder die Vervollständigung für bash, zsh oder fish ausgeben.</translation>
    </message>
    <message>
        <source>Show this help.</source>
        <translation>Diese Hilfe zeigen.</translation>
    </message>
    <message>
        <source>Show the version.</source>
        <translation>Die Version zeigen.</translation>
    </message>
    <message>
        <source>Write a view as .png .svg .pdf, or the timeline as Chrome trace .json, or a view&apos;s figures as .csv, without a window.</source>
        <translation>Eine Ansicht als .png .svg .pdf oder die Zeitleiste als Chrome-Trace .json oder die Zahlen einer Ansicht als .csv schreiben, ohne Fenster.</translation>
    </message>
    <message>
        <source>Write a lesson on paper to the file of --export, a .pdf or .html: its name or its folder, or what was handed in to one that is marked by points, a .json.</source>
        <translation>Eine Lektion auf Papier in die Datei von --export schreiben, .pdf oder .html: ihr Name oder ihr Ordner, oder eine Abgabe zu einer, die Punkte gibt, eine .json.</translation>
    </message>
    <message>
        <source>The handout has the right answers.</source>
        <translation>Das Arbeitsblatt enthält die richtigen Antworten.</translation>
    </message>
    <message>
        <source>Which numbers the handout draws: 1, 2, ...</source>
        <translation>Welche Zahlen das Arbeitsblatt zieht: 1, 2, ...</translation>
    </message>
    <message>
        <source>Open the room Learn with a teacher's list of lessons: a text file with the name of one in each line.</source>
        <translation>Den Raum Lernen mit der Lektionenliste einer Lehrkraft öffnen: eine Textdatei mit einem Namen je Zeile.</translation>
    </message>
    <message>
        <source>Read what is done from this folder, and keep it there until the window closes.</source>
        <translation>Erledigtes aus diesem Ordner lesen und dort ablegen, bis das Fenster schließt.</translation>
    </message>
    <message>
        <source>%1; or a part of one: %2.</source>
        <translation>%1; oder ein Teil davon: %2.</translation>
    </message>
</context>
<context>
    <name>memory</name>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>forward and backward in turn</source>
        <translation>vorwärts und rückwärts im Wechsel</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>Spitze %1</translation>
    </message>
    <message>
        <source>pinned %1</source>
        <translation>angeheftet %1</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <source>Rank %1 · stage %2</source>
        <translation>Rang %1 · Stufe %2</translation>
    </message>
    <message>
        <source>16-bit</source>
        <translation>16 Bit</translation>
    </message>
    <message>
        <source>fp32</source>
        <translation>fp32</translation>
    </message>
    <message>
        <source>8-bit</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>%1 B each</source>
        <translation>je %1 B</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Parameters, %1</source>
        <translation>Parameter, %1</translation>
    </message>
    <message>
        <source>Gradients, %1</source>
        <translation>Gradienten, %1</translation>
    </message>
    <message>
        <source>Master, %1</source>
        <translation>Masterkopie, %1</translation>
    </message>
    <message>
        <source>Two moments, %1</source>
        <translation>Momente, %1</translation>
    </message>
    <message>
        <source>%1 → next, %2</source>
        <translation>%1 → nächste, %2</translation>
    </message>
    <message>
        <source>%1 → previous, %2</source>
        <translation>%1 → vorige, %2</translation>
    </message>
    <message>
        <source>%1 of %2, %3</source>
        <translation>%1 von %2, %3</translation>
    </message>
    <message>
        <source>m · b s h</source>
        <translation>m · b s h</translation>
    </message>
    <message>
        <source>%1 sends, each one micro-batch of the residual stream</source>
        <translation>%1-mal gesendet, jedes Mal ein Mikro-Batch des Residualstroms</translation>
    </message>
    <message>
        <source>%1 sends of %2 each, on average</source>
        <translation>%1-mal gesendet, im Mittel je %2</translation>
    </message>
    <message>
        <source>this rank only receives</source>
        <translation>dieser Rang empfängt nur</translation>
    </message>
    <message>
        <source>N = %1; S = %2. One number is not cut: this rank adds it up and sends the sum to each of the others.</source>
        <translation>N = %1; S = %2. Eine Zahl wird nicht zerteilt: Dieser Rang zählt sie zusammen und sendet die Summe an jeden der anderen.</translation>
    </message>
    <message>
        <source>N = %1; S = %2. One number is not cut: another rank adds it up and sends the sum to all.</source>
        <translation>N = %1; S = %2. Eine Zahl wird nicht zerteilt: Ein anderer Rang zählt sie zusammen und sendet die Summe an alle.</translation>
    </message>
    <message>
        <source>N = %1; %2 = %3; %4 calls. A rank&apos;s share differs by the element that is left over; over the group the sum is exact.</source>
        <translation>N = %1; %2 = %3; %4 Aufrufe. Der Anteil eines Rangs weicht um das übrige Element ab; über die Gruppe ist die Summe genau.</translation>
    </message>
    <message>
        <source>Unexplained</source>
        <translation>Unerklärt</translation>
    </message>
    <message>
        <source>pinned %1 (%2)</source>
        <translation>angeheftet %1 (%2)</translation>
    </message>
    <message>
        <source>predicted %1 (%2)</source>
        <translation>vorhergesagt %1 (%2)</translation>
    </message>
    <message>
        <source>counted %1 (%2)</source>
        <translation>gezählt %1 (%2)</translation>
    </message>
    <message>
        <source>equal to the byte, in every category</source>
        <translation>bytegenau gleich, in jeder Kategorie</translation>
    </message>
    <message>
        <source>difference %1</source>
        <translation>Unterschied %1</translation>
    </message>
    <message>
        <source>held from start to end</source>
        <translation>gehalten von Anfang bis Ende</translation>
    </message>
    <message>
        <source>held for %1, from %2 to %3</source>
        <translation>gehalten für %1, von %2 bis %3</translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation>Optimiererzustand</translation>
    </message>
    <message>
        <source>a shard of all layers of the rank</source>
        <translation>ein Teil aller Schichten des Rangs</translation>
    </message>
    <message>
        <source>%1 of layer %2</source>
        <translation>%1 von Schicht %2</translation>
    </message>
    <message>
        <source>%1 of tables and final norm</source>
        <translation>%1 von Tabellen und letzter Norm</translation>
    </message>
    <message>
        <source>a program of this size keeps the activations of a whole stage as one tensor</source>
        <translation>ein Programm dieser Größe hält die Aktivierungen einer ganzen Stufe als einen Tensor</translation>
    </message>
    <message>
        <source>activations are fp32, 4 bytes where the paper counts 2</source>
        <translation>Aktivierungen sind fp32, 4 Bytes, wo der Artikel 2 zählt</translation>
    </message>
    <message>
        <source>there is no dropout: its masks and outputs are not kept</source>
        <translation>es gibt kein Dropout: seine Masken und Ausgaben werden nicht gehalten</translation>
    </message>
    <message>
        <source>under sequence parallelism the layer&apos;s input is a part, too</source>
        <translation>bei Sequenzparallelität ist auch die Eingabe der Schicht nur ein Teil</translation>
    </message>
    <message>
        <source>fused attention keeps no scores</source>
        <translation>verschmolzene Attention hält keine Bewertungen</translation>
    </message>
    <message>
        <source>the statistics of the norms are kept, which the paper leaves out</source>
        <translation>die Statistiken der Normen werden gehalten, die der Artikel auslässt</translation>
    </message>
    <message>
        <source>stages held twice</source>
        <translation>doppelt gehalten</translation>
    </message>
    <message>
        <source>Memory per rank</source>
        <translation>Speicher je Rang</translation>
    </message>
    <message>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <source>%1 data-parallel ranks</source>
        <translation>%1 datenparallele Ränge</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 Parameter</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>ZERO STAGES</source>
        <translation>ZERO-STUFEN</translation>
    </message>
    <message>
        <source>PEAK MEMORY</source>
        <translation>SPITZENSPEICHER</translation>
    </message>
    <message>
        <source>ONE RANK OF EVERY STAGE</source>
        <translation>EIN RANG JEDER STUFE</translation>
    </message>
    <message>
        <source>EVERY RANK</source>
        <translation>JEDER RANG</translation>
    </message>
    <message>
        <source>PREDICTED, AND COUNTED IN THE RUN</source>
        <translation>VORHERGESAGT UND IM LAUF GEZÄHLT</translation>
    </message>
    <message>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <source>MEMORY OVER ONE STEP</source>
        <translation>SPEICHER ÜBER EINEN SCHRITT</translation>
    </message>
    <message>
        <source>%1, sizes counted</source>
        <translation>%1, Größen gezählt</translation>
    </message>
    <message>
        <source>BYTES PER PARAMETER</source>
        <translation>BYTES JE PARAMETER</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>on this rank</source>
        <translation>dieser Rang</translation>
    </message>
    <message>
        <source>%1 / N</source>
        <translation>%1 / N</translation>
    </message>
    <message>
        <source>Together %1</source>
        <translation>Zusammen %1</translation>
    </message>
    <message>
        <source>SENT PER STEP AND RANK</source>
        <translation>GESENDET JE SCHRITT UND RANG</translation>
    </message>
    <message>
        <source>nothing: one rank has nobody to send to</source>
        <translation>nichts: ein einzelner Rang hat keinen Empfänger</translation>
    </message>
    <message>
        <source>%1 further kinds: %2</source>
        <translation>%1 weitere Arten: %2</translation>
    </message>
    <message>
        <source>predicted, not counted yet</source>
        <translation>vorhergesagt, noch nicht gezählt</translation>
    </message>
    <message>
        <source>whole NCCL collectives by formula, the rest counted</source>
        <translation>ganze NCCL-Kollektive nach Formel, der Rest gezählt</translation>
    </message>
    <message>
        <source>counted by the engine: equal to the byte</source>
        <translation>von der Engine gezählt: bytegenau gleich</translation>
    </message>
    <message>
        <source>counted by the engine: it differs</source>
        <translation>von der Engine gezählt: es weicht ab</translation>
    </message>
    <message>
        <source>%1 further kind: %2</source>
        <translation>%1 weitere Art: %2</translation>
    </message>
    <message>
        <source>%1, on average over the ranks</source>
        <translation>%1, im Mittel über die Ränge</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>Zusammen</translation>
    </message>
</context>
<context>
    <name>mesh</name>
    <message>
        <source>N%1</source>
        <translation>K%1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>all ranks</source>
        <translation>alle Ränge</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>one rank in %1</source>
        <translation>ein Rang in %1</translation>
    </message>
    <message>
        <source>%1 ranks in %2</source>
        <translation>%1 Ränge in %2</translation>
    </message>
    <message>
        <source>%1 from rank %2 to rank %3</source>
        <translation>%1 von Rang %2 zu Rang %3</translation>
    </message>
    <message>
        <source>%1 further messages</source>
        <translation>%1 weitere Nachrichten</translation>
    </message>
    <message>
        <source>nobody sends</source>
        <translation>niemand sendet</translation>
    </message>
    <message>
        <source>At %1: %2.</source>
        <translation>Bei %1: %2.</translation>
    </message>
    <message>
        <source>Stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>%1, layers %2</source>
        <translation>%1, Schichten %2</translation>
    </message>
    <message>
        <source>%1 ranks alike</source>
        <translation>%1 gleiche Ränge</translation>
    </message>
    <message>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <source>%1 at most</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>sent %1 so far</source>
        <translation>%1 bisher gesendet</translation>
    </message>
    <message>
        <source>One rank</source>
        <translation>Ein Rang</translation>
    </message>
    <message>
        <source>ranks count TP, CP, DP, then PP (Megatron&apos;s default)</source>
        <translation>Ränge zählen TP, CP, DP, dann PP (Vorgabe von Megatron)</translation>
    </message>
    <message>
        <source>ranks count TP, CP, PP, then DP (the lecture notes&apos; order)</source>
        <translation>Ränge zählen TP, CP, PP, dann DP (Ordnung des Skripts)</translation>
    </message>
    <message>
        <source>a card stands for equal ranks</source>
        <translation>eine Karte steht für gleiche Ränge</translation>
    </message>
    <message>
        <source>links redden with the bytes of a step</source>
        <translation>Verbindungen röten sich mit den Bytes eines Schritts</translation>
    </message>
    <message>
        <source>links redden with the bytes so far</source>
        <translation>Verbindungen röten sich mit den Bytes bis jetzt</translation>
    </message>
    <message>
        <source>times %1</source>
        <translation>Zeiten %1</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>predicted, and counted to the byte</source>
        <translation>vorhergesagt und bytegenau gezählt</translation>
    </message>
    <message>
        <source>predicted, %1 counted</source>
        <translation>vorhergesagt, %1 gezählt</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>most memory</source>
        <translation>meister Speicher</translation>
    </message>
    <message>
        <source>sends in a step</source>
        <translation>sendet im Schritt</translation>
    </message>
    <message>
        <source>%1 group</source>
        <translation>%1-Gruppe</translation>
    </message>
    <message>
        <source>ITS GROUPS</source>
        <translation>SEINE GRUPPEN</translation>
    </message>
    <message>
        <source>once</source>
        <translation>einmal</translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation>%1-mal</translation>
    </message>
    <message>
        <source>to rank %1</source>
        <translation>an Rang %1</translation>
    </message>
    <message>
        <source>in its %1 group</source>
        <translation>in seiner %1-Gruppe</translation>
    </message>
    <message>
        <source>WHAT IT SENDS IN A STEP</source>
        <translation>WAS ER IN EINEM SCHRITT SENDET</translation>
    </message>
    <message>
        <source>in one node</source>
        <translation>in einem Knoten</translation>
    </message>
    <message>
        <source>on %1 nodes</source>
        <translation>auf %1 Knoten</translation>
    </message>
    <message>
        <source>%1 in one node, %2 on %3</source>
        <translation>%1 in einem Knoten, %2 auf %3</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>shared memory</source>
        <translation>gemeinsamer Speicher</translation>
    </message>
    <message>
        <source>memory of the GPU</source>
        <translation>Speicher der GPU</translation>
    </message>
    <message>
        <source>links of the node</source>
        <translation>Verbindungen des Knotens</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Groups × ranks</source>
        <translation>Gruppen × Ränge</translation>
    </message>
    <message>
        <source>%1: %2 (%3), %4 (%5)</source>
        <translation>%1: %2 (%3), %4 (%5)</translation>
    </message>
    <message>
        <source>%1, one way for each rank: %2, %3</source>
        <translation>%1, je Rang in einer Richtung: %2, %3</translation>
    </message>
    <message>
        <source>%1, a message&apos;s latency: %2, %3</source>
        <translation>%1, Latenz einer Nachricht: %2, %3</translation>
    </message>
    <message>
        <source>All ranks are on one node.</source>
        <translation>Alle Ränge sind auf einem Knoten.</translation>
    </message>
    <message>
        <source>%1 nodes of %2 ranks.</source>
        <translation>%1 Knoten mit je %2 Rängen.</translation>
    </message>
    <message>
        <source>In a node %1.</source>
        <translation>Im Knoten %1.</translation>
    </message>
    <message>
        <source>Between nodes %1.</source>
        <translation>Zwischen Knoten %1.</translation>
    </message>
    <message>
        <source>%1, %2, %3; ways to the next rank that leave a node: %4</source>
        <translation>%1, %2, %3; Wege zum nächsten Rang, die einen Knoten verlassen: %4</translation>
    </message>
    <message>
        <source>; a rank sends %1 in a step</source>
        <translation>; ein Rang sendet %1 im Schritt</translation>
    </message>
    <message>
        <source>Axis</source>
        <translation>Achse</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
    <message>
        <source>Ways out</source>
        <translation>Wege hinaus</translation>
    </message>
    <message>
        <source>Over</source>
        <translation>Über</translation>
    </message>
    <message>
        <source>Most sent</source>
        <translation>Meist gesendet</translation>
    </message>
    <message>
        <source>In a node %1</source>
        <translation>Im Knoten %1</translation>
    </message>
    <message>
        <source>Between nodes %1</source>
        <translation>Zwischen Knoten %1</translation>
    </message>
    <message>
        <source>%1 replicas</source>
        <translation>%1 Repliken</translation>
    </message>
    <message>
        <source>in one of its groups</source>
        <translation>in einer seiner Gruppen</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>gewählt</translation>
    </message>
    <message>
        <source>in a collective now</source>
        <translation>gerade in einem Kollektiv</translation>
    </message>
    <message>
        <source>node</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>other colours: stages</source>
        <translation>andere Farben: Stufen</translation>
    </message>
    <message>
        <source>Node %1</source>
        <translation>Knoten %1</translation>
    </message>
    <message>
        <source>%1 alike</source>
        <translation>%1 gleiche</translation>
    </message>
    <message>
        <source>a box stands for equal nodes</source>
        <translation>ein Kasten steht für gleiche Knoten</translation>
    </message>
    <message>
        <source>%1 further kinds of nodes have no room</source>
        <translation>%1 weitere Arten von Knoten haben keinen Platz</translation>
    </message>
    <message>
        <source>%1 groups of %2 ranks</source>
        <translation>%1 Gruppen mit je %2 Rängen</translation>
    </message>
    <message>
        <source>one group of %1 ranks</source>
        <translation>eine Gruppe mit %1 Rängen</translation>
    </message>
    <message>
        <source>WHICH GROUPS LEAVE A NODE</source>
        <translation>WER EINEN KNOTEN VERLÄSST</translation>
    </message>
    <message>
        <source>%1, %2 ways leave</source>
        <translation>%1, %2 Wege hinaus</translation>
    </message>
    <message>
        <source>sends %1</source>
        <translation>sendet %1</translation>
    </message>
    <message>
        <source>red frame: in a collective now</source>
        <translation>roter Rahmen: gerade in einem Kollektiv</translation>
    </message>
    <message>
        <source>its bar reddens with the bytes of a step</source>
        <translation>ihr Balken rötet sich mit den Bytes eines Schritts</translation>
    </message>
    <message>
        <source>its bar reddens with the bytes so far</source>
        <translation>ihr Balken rötet sich mit den Bytes bis jetzt</translation>
    </message>
</context>
<context>
    <name>parallelarium::AllSettings</name>
    <message>
        <source>All settings</source>
        <translation>Alle Einstellungen</translation>
    </message>
    <message>
        <source>Batch and model</source>
        <translation>Batch und Modell</translation>
    </message>
    <message>
        <source>%1 (%2 bytes)</source>
        <translation>%1 (%2 Bytes)</translation>
    </message>
    <message>
        <source>Parallelism</source>
        <translation>Parallelität</translation>
    </message>
    <message>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>auto (%1)</source>
        <translation>automatisch (%1)</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>%1 zurücksetzen</translation>
    </message>
    <message>
        <source>Text to train on</source>
        <translation>Text zum Trainieren</translation>
    </message>
    <message>
        <source>Text (*)</source>
        <translation>Text (*)</translation>
    </message>
    <message>
        <source>simple English, made here</source>
        <translation>einfaches Englisch, hier erzeugt</translation>
    </message>
    <message>
        <source>Text to train on: %1</source>
        <translation>Text zum Trainieren: %1</translation>
    </message>
    <message>
        <source>Algorithm of %1</source>
        <translation>Algorithmus von %1</translation>
    </message>
    <message>
        <source>the transport&apos;s own</source>
        <translation>der des Transports</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::CollectiveSession</name>
    <message>
        <source>Time in the collective</source>
        <translation>Zeit im Kollektiv</translation>
    </message>
    <message>
        <source>nothing to send</source>
        <translation>nichts zu senden</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <source>Collective: steps, costs and run (JSON)</source>
        <translation>Kollektiv: Schritte, Kosten und Lauf (JSON)</translation>
    </message>
    <message>
        <source>Collective: table of moves (CSV)</source>
        <translation>Kollektiv: Tabelle der Bewegungen (CSV)</translation>
    </message>
    <message>
        <source>Every run of a collective is verified cell by cell</source>
        <translation>Jeder Lauf eines Kollektivs wird Zelle für Zelle geprüft</translation>
    </message>
</context>
<context>
    <name>parallelarium::CollectivesView</name>
    <message>
        <source>Operation</source>
        <translation>Operation</translation>
    </message>
    <message>
        <source>Algorithm</source>
        <translation>Algorithmus</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ränge</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <source>Size of the array</source>
        <translation>Größe des Arrays</translation>
    </message>
    <message>
        <source>Root</source>
        <translation>Wurzel</translation>
    </message>
    <message>
        <source>Root %1</source>
        <translation>Wurzel %1</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Type of the elements</source>
        <translation>Typ der Elemente</translation>
    </message>
    <message>
        <source>How contributions are combined</source>
        <translation>Wie Beiträge verknüpft werden</translation>
    </message>
    <message>
        <source>Links between the ranks</source>
        <translation>Verbindungen zwischen den Rängen</translation>
    </message>
    <message>
        <source>What chunks show</source>
        <translation>Was Stücke zeigen</translation>
    </message>
    <message>
        <source>Contributions</source>
        <translation>Beiträge</translation>
    </message>
    <message>
        <source>Whose contributions are in each chunk</source>
        <translation>Wessen Beiträge in jedem Stück sind</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>Werte</translation>
    </message>
    <message>
        <source>The first number of each chunk, from the run</source>
        <translation>Die erste Zahl jedes Stücks, aus dem Lauf</translation>
    </message>
    <message>
        <source>Last bits</source>
        <translation>Letzte Bits</translation>
    </message>
    <message>
        <source>How many elements of the run&apos;s result differ from those of another algorithm, both on the same inexact inputs</source>
        <translation>Wie viele Elemente im Ergebnis des Laufs von denen eines anderen Algorithmus abweichen, beide mit denselben ungenauen Eingaben</translation>
    </message>
    <message>
        <source>Picture or table</source>
        <translation>Bild oder Tabelle</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Moves</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Every move, as a table</source>
        <translation>Jede Bewegung, als Tabelle</translation>
    </message>
    <message>
        <source>&amp;Moves as a table</source>
        <translation>Bewegungen als &amp;Tabelle</translation>
    </message>
    <message>
        <source>Chunks show the &amp;values of the run</source>
        <translation>Stücke zeigen die &amp;Werte des Laufs</translation>
    </message>
    <message>
        <source>Chunks show the &amp;last bits against another algorithm</source>
        <translation>Stücke zeigen die &amp;letzten Bits gegen einen anderen Algorithmus</translation>
    </message>
    <message>
        <source>All-reduce as reduce-scatter and all-&amp;gather</source>
        <translation>All-Reduce als Redu&amp;ce-Scatter und All-Gather</translation>
    </message>
    <message>
        <source>Measure every si&amp;ze</source>
        <translation>&amp;Jede Größe messen</translation>
    </message>
    <message>
        <source>Run the algorithms of the plot at sizes from 4 KiB to 64 MiB</source>
        <translation>Die Algorithmen des Diagramms mit Größen von 4 KiB bis 64 MiB laufen lassen</translation>
    </message>
    <message>
        <source>Latency between nodes</source>
        <translation>Latenz zwischen Knoten</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>Bandwidth of a node</source>
        <translation>Bandbreite eines Knotens</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1 as assumed</source>
        <translation>%1 wie angenommen</translation>
    </message>
    <message>
        <source>An empty text takes the assumed figure again</source>
        <translation>Ein leerer Text nimmt wieder den angenommenen Wert</translation>
    </message>
    <message>
        <source>Measured by the last calibration of this computer; choose other links to set theirs</source>
        <translation>Beim letzten Kalibrieren dieses Rechners gemessen; wähle andere Verbindungen, um deren Werte zu setzen</translation>
    </message>
    <message>
        <source>Figures of this computer, assumed until it is calibrated, which the first Run of a training step does; choose other links to set theirs</source>
        <translation>Werte dieses Rechners, angenommen, bis er kalibriert ist, was das erste „Starten“ eines Trainingsschritts tut; wähle andere Verbindungen, um deren Werte zu setzen</translation>
    </message>
    <message>
        <source>Figures of this computer's GPUs, assumed until they are calibrated; choose other links to set theirs</source>
        <translation>Werte der GPUs dieses Rechners, angenommen, bis sie kalibriert sind; wähle andere Verbindungen, um deren Werte zu setzen</translation>
    </message>
    <message>
        <source>GPUs: %1, %2, calibrated</source>
        <translation>GPUs: %1, %2, kalibriert</translation>
    </message>
    <message>
        <source>GPUs: %1, %2, assumed</source>
        <translation>GPUs: %1, %2, angenommen</translation>
    </message>
    <message>
        <source>%1, %2, calibrated</source>
        <translation>%1, %2, kalibriert</translation>
    </message>
    <message>
        <source>%1, %2, assumed</source>
        <translation>%1, %2, angenommen</translation>
    </message>
    <message>
        <source>assumed</source>
        <translation>angenommen</translation>
    </message>
    <message>
        <source>set here</source>
        <translation>hier gesetzt</translation>
    </message>
    <message>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <source>Picture of the collective</source>
        <translation>Bild des Kollektivs</translation>
    </message>
    <message>
        <source>Moves of the collective</source>
        <translation>Bewegungen des Kollektivs</translation>
    </message>
    <message>
        <source>measure</source>
        <translation>messen</translation>
    </message>
    <message>
        <source>Measure the bandwidth of every size</source>
        <translation>Die Bandbreite jeder Größe messen</translation>
    </message>
    <message>
        <source>Values are those of a run; press Run first</source>
        <translation>Werte sind die eines Laufs; drücke erst „Starten“</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>To</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>Stück</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>There</source>
        <translation>Dort</translation>
    </message>
    <message>
        <source>Predicted begin</source>
        <translation>Beginn vorhergesagt</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Waited</source>
        <translation>Gewartet</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>combined</source>
        <translation>verknüpft</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <source>%1: verified cell by cell. </source>
        <translation>%1: Zelle für Zelle geprüft. </translation>
    </message>
    <message>
        <source>%1 cells are wrong. </source>
        <translation>%1 Zellen sind falsch. </translation>
    </message>
    <message>
        <source>&amp;Collectives view</source>
        <translation>K&amp;ollektivansicht</translation>
    </message>
    <message>
        <source>In co&amp;llectives</source>
        <translation>In &amp;Kollektiven</translation>
    </message>
    <message>
        <source>Every cell of every rank is compared with the result that the inputs must give.</source>
        <translation>Jede Zelle jedes Rangs wird mit dem Ergebnis verglichen, das die Eingaben geben müssen.</translation>
    </message>
    <message>
        <source>How ranks exchange an array</source>
        <translation>Wie Ränge ein Feld austauschen</translation>
    </message>
    <message>
        <source>In a **collective** all ranks of a group take part: each column is a rank, each row a chunk of its array. Choose a collective, an algorithm and the links, and follow every chunk from rank to rank. Press **Run**, and ranks of this computer do the same, counted and timed beside the prediction.</source>
        <translation>An einem **Kollektiv** nehmen alle Ränge einer Gruppe teil: Jede Spalte ist ein Rang, jede Zeile ein Stück seines Feldes. Wähle ein Kollektiv, einen Algorithmus und die Verbindungen und folge jedem Stück von Rang zu Rang. Drücke **Starten**, und Ränge dieses Rechners tun dasselbe, gezählt und gemessen neben der Vorhersage.</translation>
    </message>
    <message>
        <source>Click a chunk or a step to see what it carries, what it adds to, and how long it waited; arrows walk over the moves.</source>
        <translation>Klicke auf ein Stück oder einen Schritt, um zu sehen, was getragen wird, wozu es addiert wird und wie lange es gewartet hat; Pfeile gehen über die Bewegungen.</translation>
    </message>
</context>
<context>
    <name>parallelarium::Doctor</name>
    <message>
        <source>Doctor</source>
        <translation>Diagnose</translation>
    </message>
    <message>
        <source>Asking the engine what this computer has …</source>
        <translation>Die Engine wird gefragt, was dieser Rechner hat …</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>%1: %2, %3 cores, %4 memory</source>
        <translation>%1: %2, %3 Kerne, %4 Speicher</translation>
    </message>
    <message>
        <source>there</source>
        <translation>vorhanden</translation>
    </message>
    <message>
        <source>Engine program</source>
        <translation>Engine-Programm</translation>
    </message>
    <message>
        <source>limited</source>
        <translation>begrenzt</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>Kalibrierung</translation>
    </message>
    <message>
        <source>GPUs and their links</source>
        <translation>GPUs und ihre Verbindungen</translation>
    </message>
    <message>
        <source>GPU %1: %2, %3%4</source>
        <translation>GPU %1: %2, %3%4</translation>
    </message>
    <message>
        <source>GPU %1 to %2: %3, %4</source>
        <translation>GPU %1 zu %2: %3, %4</translation>
    </message>
    <message>
        <source>peer to peer</source>
        <translation>direkt von Speicher zu Speicher</translation>
    </message>
    <message>
        <source>through host memory</source>
        <translation>über den Speicher des Rechners</translation>
    </message>
    <message>
        <source>Calibration of the GPUs</source>
        <translation>Kalibrierung der GPUs</translation>
    </message>
    <message>
        <source>never made</source>
        <translation>nie gemacht</translation>
    </message>
    <message>
        <source>of other GPUs: %1</source>
        <translation>von anderen GPUs: %1</translation>
    </message>
    <message>
        <source>GPU %1 (%2)</source>
        <translation>GPU %1 (%2)</translation>
    </message>
    <message>
        <source>GPUs %1 (%2)</source>
        <translation>GPUs %1 (%2)</translation>
    </message>
    <message>
        <source>in part</source>
        <translation>teilweise</translation>
    </message>
    <message>
        <source>of %1, not of %2: %3</source>
        <translation>von %1, nicht von %2: %3</translation>
    </message>
    <message>
        <source>Set GPUs to %1 in All settings to run with these rates, or let Run, Calibrate measure all that ranks can use.</source>
        <translation>In „Alle Einstellungen“ GPUs auf %1 setzen, um mit diesen Raten zu laufen, oder Starten, Kalibrieren alle messen lassen, die Ränge nutzen können.</translation>
    </message>
    <message>
        <source>The first run on them measures them, or Run, Calibrate.</source>
        <translation>Der erste Lauf auf ihnen vermisst sie, oder Starten, Kalibrieren.</translation>
    </message>
    <message>
        <source>never made: rates are assumed</source>
        <translation>nie gemacht: Raten sind angenommen</translation>
    </message>
    <message>
        <source>outdated in bf16</source>
        <translation>in bf16 veraltet</translation>
    </message>
    <message>
        <source>disturbed</source>
        <translation>gestört</translation>
    </message>
    <message>
        <source>The first run measures this computer, or Run, Calibrate.</source>
        <translation>Der erste Lauf vermisst diesen Rechner, oder Starten, Kalibrieren.</translation>
    </message>
    <message>
        <source>Backend %1</source>
        <translation>Backend %1</translation>
    </message>
    <message>
        <source>passed</source>
        <translation>bestanden</translation>
    </message>
    <message>
        <source>not reached in time</source>
        <translation>in der Zeit nicht erreicht</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>nicht bestanden</translation>
    </message>
    <message>
        <source>Check of GPU %1</source>
        <translation>Prüfung von GPU %1</translation>
    </message>
    <message>
        <source>Check of GPU %1 and GPU %2</source>
        <translation>Prüfung von GPU %1 und GPU %2</translation>
    </message>
    <message>
        <source>%1 measured</source>
        <translation>%1 gemessen</translation>
    </message>
    <message>
        <source>Check of collectives of GPUs %1</source>
        <translation>Prüfung der kollektiven Operationen der GPUs %1</translation>
    </message>
    <message>
        <source>Check of the GPUs</source>
        <translation>Prüfung der GPUs</translation>
    </message>
</context>
<context>
    <name>parallelarium::GpuCheckRow</name>
    <message>
        <source>Progress of the check</source>
        <translation>Fortschritt der Prüfung</translation>
    </message>
    <message>
        <source>There is no GPU here to check.</source>
        <translation>Hier ist keine GPU zu prüfen.</translation>
    </message>
    <message>
        <source>Kernels, messages, collectives and bandwidth; at most 15 s</source>
        <translation>Kernel, Nachrichten, kollektive Operationen und Bandbreite; höchstens 15 s</translation>
    </message>
    <message>
        <source>Are their numbers right, and what they send each other? At most 15 s.</source>
        <translation>Rechnen sie richtig, und kommt an, was sie einander senden? Höchstens 15 s.</translation>
    </message>
    <message>
        <source>Chec&amp;k the GPUs</source>
        <translation>GPUs &amp;prüfen</translation>
    </message>
    <message>
        <source>Cancelling …</source>
        <translation>Wird abgebrochen …</translation>
    </message>
    <message>
        <source>Cancel the chec&amp;k</source>
        <translation>&amp;Prüfung abbrechen</translation>
    </message>
    <message>
        <source>Starting …</source>
        <translation>Beginnt …</translation>
    </message>
    <message>
        <source>The GPUs passed their check.</source>
        <translation>Die GPUs haben ihre Prüfung bestanden.</translation>
    </message>
    <message>
        <source>Not all passed: see above. Copy has a report to send.</source>
        <translation>Nicht alle haben bestanden, siehe oben. Kopieren enthält einen Bericht zum Verschicken.</translation>
    </message>
</context>
<context>
    <name>parallelarium::EngineProcess</name>
    <message>
        <source>killed by signal %1</source>
        <translation>von Signal %1 beendet</translation>
    </message>
    <message>
        <source>exit status %1</source>
        <translation>Rückgabewert %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::ExpertsView</name>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <translation>Mikro-Batch</translation>
    </message>
    <message>
        <source>EP group</source>
        <translation>EP-Gruppe</translation>
    </message>
    <message>
        <source>Whose counts are drawn</source>
        <translation>Wessen Zahlen gezeichnet werden</translation>
    </message>
    <message>
        <source>run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>What the run counted</source>
        <translation>Was der Lauf gezählt hat</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>What the prediction assumes: even but for the skew</source>
        <translation>Was die Vorhersage annimmt: gleichmäßig bis auf die Schiefe</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>Training step of the run</source>
        <translation>Trainingsschritt des Laufs</translation>
    </message>
    <message>
        <source>[ and ] in the picture go to the step before and the next</source>
        <translation>[ und ] gehen im Bild zum vorigen und zum nächsten Schritt</translation>
    </message>
    <message>
        <source>Training step</source>
        <translation>Trainingsschritt</translation>
    </message>
    <message>
        <source>Placement of the experts</source>
        <translation>Platzierung der Experten</translation>
    </message>
    <message>
        <source>neighbours</source>
        <translation>Nachbarn</translation>
    </message>
    <message>
        <source>A rank holds neighbours: 0 1, 2 3, ...</source>
        <translation>Ein Rang hält Nachbarn: 0 1, 2 3, ...</translation>
    </message>
    <message>
        <source>in turn</source>
        <translation>reihum</translation>
    </message>
    <message>
        <source>Ranks take turns: 0 and 4, 1 and 5, ...</source>
        <translation>Die Ränge wechseln sich ab: 0 und 4, 1 und 5, ...</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>Skew: share of the tokens that is sent to expert 0 on purpose</source>
        <translation>Schiefe: Anteil der Token, der absichtlich an Experte 0 geht</translation>
    </message>
    <message>
        <source>Skew</source>
        <translation>Schiefe</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <source>even</source>
        <translation>gleichmäßig</translation>
    </message>
    <message>
        <source>one hot expert</source>
        <translation>alle an Experte 0</translation>
    </message>
    <message>
        <source>Choose %1</source>
        <translation>%1 wählen</translation>
    </message>
    <message>
        <source>Model %1</source>
        <translation>Modell %1</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>Picture of the routing</source>
        <translation>Bild des Routings</translation>
    </message>
    <message>
        <source>These settings are not valid: there is no routing to show yet.</source>
        <translation>Diese Einstellungen sind nicht gültig: es gibt noch kein Routing zu zeigen.</translation>
    </message>
    <message>
        <source>%1 has no experts: all tokens take the same way.</source>
        <translation>%1 hat keine Experten: alle Token nehmen denselben Weg.</translation>
    </message>
    <message>
        <source>Routing the tokens</source>
        <translation>Die Token werden geroutet</translation>
    </message>
    <message>
        <source>E&amp;xperts view</source>
        <translation>E&amp;xpertenansicht</translation>
    </message>
    <message>
        <source>From the simulated timeline: from the first op of the layer&apos;s forward to its last, over all ranks.</source>
        <translation>Aus der simulierten Zeitachse: von der ersten Operation im Vorwärtslauf der Schicht bis zur letzten, über alle Ränge.</translation>
    </message>
    <message>
        <source>Choices that the fullest rank&apos;s experts take, over the mean of the ranks: 1 is even.</source>
        <translation>Auswahlen, die die Experten des vollsten Rangs nehmen, geteilt durch das Mittel der Ränge: 1 ist gleichmäßig.</translation>
    </message>
    <message>
        <source>Choices whose expert is on another rank, times the bytes of a token&apos;s activations.</source>
        <translation>Auswahlen, deren Experte auf einem anderen Rang liegt, mal die Bytes der Aktivierungen eines Tokens.</translation>
    </message>
    <message>
        <source>Choices above an expert&apos;s capacity, over all choices; without a capacity none is dropped.</source>
        <translation>Auswahlen über der Kapazität eines Experten, geteilt durch alle; ohne Kapazität entfällt keine.</translation>
    </message>
    <message>
        <source>Which expert gets the token</source>
        <translation>Welcher Experte das Token bekommt</translation>
    </message>
    <message>
        <source>Every token chooses some **experts**, and they lie on different ranks: bars show how many rows each gets. All wait for the rank that ends last. Skew, capacity and balancing change that; after a run the counts are those of the router that was trained.</source>
        <translation>Jedes Token wählt einige **Experten**, und die liegen auf verschiedenen Rängen: Balken zeigen, wie viele Zeilen jeder bekommt. Alle warten auf den Rang, der zuletzt endet. Schiefe, Kapazität und Ausgleich ändern das; nach einem Lauf sind es die Zahlen des trainierten Routers.</translation>
    </message>
    <message>
        <source>Click an expert or a cell of the matrix to see how many tokens it gets, and from whom.</source>
        <translation>Klicke auf einen Experten oder eine Zelle der Matrix, um zu sehen, wie viele Token er bekommt und von wem.</translation>
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
        <translation>Bild: PNG, lässt sich hier wieder öffnen</translation>
    </message>
    <message>
        <source>Picture: SVG</source>
        <translation>Bild: SVG</translation>
    </message>
    <message>
        <source>Picture: PDF</source>
        <translation>Bild: PDF</translation>
    </message>
    <message>
        <source>&amp;Format</source>
        <translation>&amp;Format</translation>
    </message>
    <message>
        <source>%1×</source>
        <translation>%1×</translation>
    </message>
    <message>
        <source>Sca&amp;le</source>
        <translation>&amp;Maßstab</translation>
    </message>
    <message>
        <source>light</source>
        <translation>hell</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>dunkel</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>Far&amp;ben</translation>
    </message>
    <message>
        <source>Only the &amp;visible time</source>
        <translation>Nur die sichtbare &amp;Zeit</translation>
    </message>
    <message>
        <source>&amp;Save …</source>
        <translation>&amp;Speichern …</translation>
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
        <source>Start</source>
        <translation>Beginnen</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Weiter</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonList</name>
    <message>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>mastered</source>
        <translation>gemeistert</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPanel</name>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <source>All lessons</source>
        <translation>Alle Lektionen</translation>
    </message>
    <message>
        <source>Your answer %1</source>
        <translation>Deine Antwort %1</translation>
    </message>
    <message>
        <source>**Hint %1.** %2</source>
        <translation>**Tipp %1.** %2</translation>
    </message>
    <message>
        <source>✓ Right</source>
        <translation>✓ Richtig</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Not quite</source>
        <translation>Nicht ganz</translation>
    </message>
    <message>
        <source>Hint</source>
        <translation>Tipp</translation>
    </message>
    <message>
        <source>Hint %1</source>
        <translation>Tipp %1</translation>
    </message>
    <message>
        <source>Finish</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Commit</source>
        <translation>Festlegen</translation>
    </message>
    <message>
        <source>Reset the lesson</source>
        <translation>Lektion zurücksetzen</translation>
    </message>
    <message>
        <source>Start “%1” again? Your answers to it are cleared and its numbers may change.</source>
        <translation>„%1“ neu beginnen? Deine Antworten dazu werden gelöscht, und ihre Zahlen können sich ändern.</translation>
    </message>
    <message>
        <source>Export my answers</source>
        <translation>Meine Antworten exportieren</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Dein Name</translation>
    </message>
    <message>
        <source>JSON files (*.json)</source>
        <translation>JSON-Dateien (*.json)</translation>
    </message>
    <message>
        <source>%1 could not be written: %2.</source>
        <translation>%1 konnte nicht geschrieben werden: %2.</translation>
    </message>
    <message>
        <source>All lessons …</source>
        <translation>Alle Lektionen …</translation>
    </message>
    <message>
        <source>Start this lesson again …</source>
        <translation>Diese Lektion neu beginnen …</translation>
    </message>
    <message>
        <source>Leave the lesson and keep this setup</source>
        <translation>Lektion verlassen und diese Einstellungen behalten</translation>
    </message>
    <message>
        <source>Export my answers …</source>
        <translation>Meine Antworten exportieren …</translation>
    </message>
    <message>
        <source>More about this lesson</source>
        <translation>Mehr zu dieser Lektion</translation>
    </message>
    <message>
        <source>Lesson text</source>
        <translation>Text der Lektion</translation>
    </message>
    <message>
        <source>Hints</source>
        <translation>Tipps</translation>
    </message>
    <message>
        <source>Feedback</source>
        <translation>Rückmeldung</translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation>Erklärung</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source> · part %1 of %2</source>
        <translation> · Teil %1 von %2</translation>
    </message>
    <message>
        <source>✓ The run passes the checks of this part</source>
        <translation>✓ Der Lauf hat bestanden</translation>
    </message>
    <message>
        <source>Check not met</source>
        <translation>Prüfung nicht bestanden</translation>
    </message>
    <message>
        <source>Change your answer, or let the answer be shown.</source>
        <translation>Ändere deine Antwort, oder lass dir die Lösung zeigen.</translation>
    </message>
    <message>
        <source>Your first answer counts. You may try again before the answer is shown.</source>
        <translation>Deine erste Antwort zählt. Du darfst es noch einmal versuchen, bevor die Lösung gezeigt wird.</translation>
    </message>
    <message>
        <source>Next lesson</source>
        <translation>Nächste Lektion</translation>
    </message>
    <message>
        <source>Done: %1</source>
        <translation>Fertig: %1</translation>
    </message>
    <message>
        <source>You have done every lesson. The setup is yours now: change what you like.</source>
        <translation>Du hast alle Lektionen gemacht. Die Einstellungen gehören jetzt dir: ändere, was du magst.</translation>
    </message>
    <message>
        <source>**Next:** %1 (%2).</source>
        <translation>**Weiter geht es mit:** %1 (%2).</translation>
    </message>
    <message>
        <source>Continue with this run</source>
        <translation>Mit diesem Lauf weitermachen</translation>
    </message>
    <message>
        <source>The check stays marked as not met</source>
        <translation>Die Prüfung bleibt als nicht bestanden vermerkt</translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation>Deine Antwort</translation>
    </message>
    <message>
        <source>Review: %1</source>
        <translation>Wiederholung: %1</translation>
    </message>
    <message>
        <source>Mark every action that begins too early.</source>
        <translation>Markiere jede Aktion, die zu früh beginnt.</translation>
    </message>
    <message>
        <source>If your notes say …</source>
        <translation>Wenn dein Skript sagt …</translation>
    </message>
    <message>
        <source>Lessons that show it</source>
        <translation>Lektionen, die es zeigen</translation>
    </message>
    <message>
        <source> · question %1 of %2</source>
        <translation> · Frage %1 von %2</translation>
    </message>
    <message>
        <source>Exam: no hints, no answers, no planner</source>
        <translation>Prüfung: keine Tipps, keine Lösungen, kein Planer</translation>
    </message>
    <message>
        <source>Your answer is kept</source>
        <translation>Deine Antwort ist notiert</translation>
    </message>
    <message>
        <source>An exam has no hints.</source>
        <translation>In einer Prüfung gibt es keine Tipps.</translation>
    </message>
    <message>
        <source>Go on as it is</source>
        <translation>So weitergehen</translation>
    </message>
    <message>
        <source>In an exam you commit an answer once.</source>
        <translation>In einer Prüfung legst du eine Antwort nur einmal fest.</translation>
    </message>
    <message>
        <source>Every condition holds now: press **Check**.</source>
        <translation>Jetzt gilt jede Bedingung: drücke **Prüfen**.</translation>
    </message>
    <message>
        <source>Reached</source>
        <translation>Erreicht</translation>
    </message>
    <message>
        <source>How far the run is</source>
        <translation>Wie weit der Lauf ist</translation>
    </message>
    <message>
        <source>▶ Prove it</source>
        <translation>▶ Beweisen</translation>
    </message>
    <message>
        <source>Beside it: %1.</source>
        <translation>Daneben: %1.</translation>
    </message>
    <message>
        <source>You commit a plan once.</source>
        <translation>Einen Plan legst du einmal fest.</translation>
    </message>
    <message>
        <source>Show the answer</source>
        <translation>Lösung zeigen</translation>
    </message>
    <message>
        <source>Not right yet</source>
        <translation>Noch nicht richtig</translation>
    </message>
    <message>
        <source>Disturbed run</source>
        <translation>Gestörter Lauf</translation>
    </message>
    <message>
        <source>Next: %1</source>
        <translation>Als Nächstes: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPlayer</name>
    <message>
        <source>Lesson: %1</source>
        <translation>Lektion: %1</translation>
    </message>
    <message>
        <source>This was an exam: %1 of %2 tasks are answered. Choose **Lessons &gt; Export my answers** and hand in the file.</source>
        <translation>Das war eine Prüfung: %1 von %2 Aufgaben sind beantwortet. Wähle **Lektionen &gt; Meine Antworten exportieren** und gib die Datei ab.</translation>
    </message>
    <message>
        <source>This setup cannot be: see what is marked.</source>
        <translation>Diesen Aufbau kann es nicht geben: Sieh, was markiert ist.</translation>
    </message>
    <message>
        <source>Your plan must meet the conditions first.</source>
        <translation>Dein Plan muss zuerst die Bedingungen erfüllen.</translation>
    </message>
    <message>
        <source>The lesson has no more the part at which this document was saved; it begins at its first part.</source>
        <translation>Die Lektion hat den Teil nicht mehr, bei dem dieses Dokument gespeichert wurde; sie beginnt bei ihrem ersten Teil.</translation>
    </message>
</context>
<context>
    <name>parallelarium::MarkdownView</name>
    <message>
        <source>Tab leads from one underlined word to the next; Enter or F1 says what it means.</source>
        <translation>Tab führt von einem unterstrichenen Wort zum nächsten; Eingabe oder F1 sagt, was es bedeutet.</translation>
    </message>
</context>
<context>
    <name>parallelarium::MemoryView</name>
    <message>
        <source>Rank whose memory is shown</source>
        <translation>Rang, dessen Speicher gezeigt wird</translation>
    </message>
    <message>
        <source>What is shown</source>
        <translation>Was gezeigt wird</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>The four ZeRO stages</source>
        <translation>Die vier ZeRO-Stufen</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>Bytes per parameter, and bytes sent</source>
        <translation>Bytes je Parameter und gesendete Bytes</translation>
    </message>
    <message>
        <source>Over the step</source>
        <translation>Im Schritt</translation>
    </message>
    <message>
        <source>Memory of this rank over one step</source>
        <translation>Speicher dieses Rangs über einen Schritt</translation>
    </message>
    <message>
        <source>Every rank</source>
        <translation>Jeder Rang</translation>
    </message>
    <message>
        <source>First and last stages beside the others</source>
        <translation>Erste und letzte Stufen neben den anderen</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>What is kept for the backward, tensor by tensor</source>
        <translation>Was für den Rückwärtslauf gehalten wird, Tensor für Tensor</translation>
    </message>
    <message>
        <source>Recipe of bytes per parameter</source>
        <translation>Rezept der Bytes je Parameter</translation>
    </message>
    <message>
        <source>Precision %1</source>
        <translation>Genauigkeit %1</translation>
    </message>
    <message>
        <source>Bytes of a parameter</source>
        <translation>Bytes eines Parameters</translation>
    </message>
    <message>
        <source>Bytes of a gradient</source>
        <translation>Bytes eines Gradienten</translation>
    </message>
    <message>
        <source>Bytes of a master weight</source>
        <translation>Bytes einer Masterkopie</translation>
    </message>
    <message>
        <source>Bytes of both moments</source>
        <translation>Bytes beider Momente</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Tensors kept for the backward</source>
        <translation>Für den Rückwärtslauf gehaltene Tensoren</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>one layer, micro-batch</source>
        <translation>eine Schicht, ein Mikro-Batch</translation>
    </message>
    <message>
        <source>in the paper</source>
        <translation>im Artikel</translation>
    </message>
    <message>
        <source>its bytes</source>
        <translation>seine Bytes</translation>
    </message>
    <message>
        <source>held at the peak</source>
        <translation>an der Spitze gehalten</translation>
    </message>
    <message>
        <source>&amp;ZeRO stages</source>
        <translation>&amp;ZeRO-Stufen</translation>
    </message>
    <message>
        <source>&amp;Bytes per parameter</source>
        <translation>&amp;Bytes je Parameter</translation>
    </message>
    <message>
        <source>Over the &amp;step</source>
        <translation>Über den &amp;Schritt</translation>
    </message>
    <message>
        <source>Every &amp;rank</source>
        <translation>Jeder &amp;Rang</translation>
    </message>
    <message>
        <source>&amp;Tensors</source>
        <translation>&amp;Tensoren</translation>
    </message>
    <message>
        <source>counted</source>
        <translation>gezählt</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>exactly</source>
        <translation>genau</translation>
    </message>
    <message>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>hält</translation>
    </message>
    <message>
        <source>is</source>
        <translation>ist</translation>
    </message>
    <message>
        <source>counted %1</source>
        <translation>gezählt %1</translation>
    </message>
    <message>
        <source>At %1</source>
        <translation>Bei %1</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>%1 %2 predicted</source>
        <translation>%1 %2 vorhergesagt</translation>
    </message>
    <message>
        <source>, %1 counted</source>
        <translation>, %1 gezählt</translation>
    </message>
    <message>
        <source>, %1 pinned</source>
        <translation>, %1 angeheftet</translation>
    </message>
    <message>
        <source>%1. %2. At %3 it holds %4. Peak %5 %6.</source>
        <translation>%1. %2. Bei %3 hält er %4. Spitze %5 %6.</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>One layer and micro-batch: %1 here, %2 by Korthikanti et al. 2022, table 2.</source>
        <translation>Eine Schicht und ein Mikro-Batch: hier %1, %2 nach Korthikanti et al. 2022, Tabelle 2.</translation>
    </message>
    <message>
        <source>Why they differ: %1.</source>
        <translation>Warum sie abweichen: %1.</translation>
    </message>
    <message>
        <source>custom</source>
        <translation>eigenes</translation>
    </message>
    <message>
        <source>Memor&amp;y view</source>
        <translation>Spe&amp;icheransicht</translation>
    </message>
    <message>
        <source>In &amp;memory</source>
        <translation>Im &amp;Speicher</translation>
    </message>
    <message>
        <source>&amp;Who holds what</source>
        <translation>&amp;Wer hält was</translation>
    </message>
    <message>
        <source>Who holds what</source>
        <translation>Wer hält was</translation>
    </message>
    <message>
        <source>Which rank holds which layer's parameters, gradients and optimizer state now</source>
        <translation>Welcher Rang jetzt von welcher Schicht Parameter, Gradienten und Optimiererzustand hält</translation>
    </message>
    <message>
        <source>What fills the memory</source>
        <translation>Was den Speicher füllt</translation>
    </message>
    <message>
        <source>Parameters, gradients, optimizer state, activations and buffers of each rank, against the limit of its device. The panes show them by stage, by formula, over the step, by rank, by tensor, and who holds what. After a run the counted bytes stand beside the predicted ones.</source>
        <translation>Parameter, Gradienten, Optimiererzustand, Aktivierungen und Puffer jedes Ranges, gegen die Grenze seines Geräts. Die Ansichten zeigen sie nach Stufe, nach Formel, über den Schritt, nach Rang, nach Tensor, und wer was hält. Nach einem Lauf stehen die gezählten Bytes neben den vorhergesagten.</translation>
    </message>
    <message>
        <source>While Who holds what is shown</source>
        <translation>Solange „Wer hält was“ zu sehen ist</translation>
    </message>
    <message>
        <source>%1 in 1 tensor</source>
        <translation>%1 in 1 Tensor</translation>
    </message>
    <message>
        <source>%1 in %2 tensors</source>
        <translation>%1 in %2 Tensoren</translation>
    </message>
    <message>
        <source>Click a part of a bar or of the curve to see what holds it and how many bytes it is.</source>
        <translation>Klicke auf einen Teil eines Balkens oder der Kurve, um zu sehen, was ihn belegt und wie viele Bytes es sind.</translation>
    </message>
</context>
<context>
    <name>parallelarium::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation>Gitter</translation>
    </message>
    <message>
        <source>Find rank</source>
        <translation>Rang suchen</translation>
    </message>
    <message>
        <source>Find a rank by its number</source>
        <translation>Einen Rang nach seiner Nummer suchen</translation>
    </message>
    <message>
        <source>Ranks go from 0 to %1.</source>
        <translation>Ränge gehen von 0 bis %1.</translation>
    </message>
    <message>
        <source>Order of the ranks</source>
        <translation>Ordnung der Ränge</translation>
    </message>
    <message>
        <source>DP before PP</source>
        <translation>DP vor PP</translation>
    </message>
    <message>
        <source>PP before DP</source>
        <translation>PP vor DP</translation>
    </message>
    <message>
        <source>The chosen rank</source>
        <translation>Der gewählte Rang</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>most memory</source>
        <translation>meister Speicher</translation>
    </message>
    <message>
        <source>The bytes are hidden until you answer.</source>
        <translation>Die Bytes sind verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <source>at most %1</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>sends %1 in a step</source>
        <translation>sendet %1 im Schritt</translation>
    </message>
    <message>
        <source>Mes&amp;h view</source>
        <translation>&amp;Gitteransicht</translation>
    </message>
    <message>
        <source>Who talks to whom</source>
        <translation>Wer mit wem spricht</translation>
    </message>
    <message>
        <source>Each square is one **rank**; links between them redden with the bytes that they carry. Choose a rank to see its groups and what it sends to whom, or a row of the table to see the ways of one group: dashed ones leave their node. The order of the axes says which groups stay inside a node.</source>
        <translation>Jedes Quadrat ist ein **Rang**; die Verbindungen röten sich mit den Bytes, die sie tragen. Wähle einen Rang, um seine Gruppen zu sehen und was er wem sendet, oder eine Zeile der Tabelle, um die Wege einer Gruppe zu sehen: gestrichelte verlassen ihren Knoten. Die Reihenfolge der Achsen sagt, welche Gruppen in einem Knoten bleiben.</translation>
    </message>
    <message>
        <source>Arrangement</source>
        <translation>Anordnung</translation>
    </message>
    <message>
        <source>On axes</source>
        <translation>Nach Achsen</translation>
    </message>
    <message>
        <source>On nodes</source>
        <translation>Nach Knoten</translation>
    </message>
    <message>
        <source>Stages beside each other, replicas below</source>
        <translation>Stufen nebeneinander, Repliken darunter</translation>
    </message>
    <message>
        <source>The nodes of the machine with their ranks</source>
        <translation>Die Knoten der Maschine mit ihren Rängen</translation>
    </message>
    <message>
        <source>Click a row, or press G, to see the ways of that group.</source>
        <translation>Klicke eine Zeile an oder drücke G, um die Wege dieser Gruppe zu sehen.</translation>
    </message>
    <message>
        <source>node %1</source>
        <translation>Knoten %1</translation>
    </message>
    <message>
        <source>, on node %1</source>
        <translation>, auf Knoten %1</translation>
    </message>
    <message>
        <source> Its %1 group is shown: %2.</source>
        <translation> Seine %1-Gruppe ist gezeigt: %2.</translation>
    </message>
    <message>
        <source>One rank sends nothing.</source>
        <translation>Ein Rang sendet nichts.</translation>
    </message>
    <message>
        <source>Click a rank to see its layers and its memory; click a row of the table to see the ways of its group.</source>
        <translation>Klicke auf einen Rang, um seine Schichten und seinen Speicher zu sehen; klicke auf eine Zeile der Tabelle, um die Wege ihrer Gruppe zu sehen.</translation>
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
    <message>
        <source>none</source>
        <translation>nichts</translation>
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
        <source>One stage, no pipeline. Below its bars stands what each rank sends: filled where the rank waits for it, hollow where it computes meanwhile. The height of many short ones is their share of the time.</source>
        <translation>Eine Stufe, keine Pipeline. Unter ihren Balken steht, was jeder Rang sendet: gefüllt, wo der Rang darauf wartet, hohl, wo er währenddessen rechnet. Stehen viele kurze dicht beieinander, ist ihre Höhe ihr Anteil an der Zeit.</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Micro-batches held</source>
        <translation>Gehaltene Mikro-Batches</translation>
    </message>
    <message>
        <source>Show them in place of the timeline; there is no room for both</source>
        <translation>Sie statt der Zeitleiste zeigen; für beides ist kein Platz</translation>
    </message>
    <message>
        <source>F3, backward 2, all-reduce …</source>
        <translation>F3, rückwärts 2, all-reduce …</translation>
    </message>
    <message>
        <source>Find an op of the timeline</source>
        <translation>Vorgang der Zeitleiste suchen</translation>
    </message>
    <message>
        <source>Enter: the next one; Esc: close</source>
        <translation>Enter: der nächste; Esc: schließen</translation>
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
    <message>
        <source>&amp;Pipeline view</source>
        <translation>&amp;Pipelineansicht</translation>
    </message>
    <message>
        <source>&amp;In the pipeline</source>
        <translation>In der Pipe&amp;line</translation>
    </message>
    <message>
        <source>In the time&amp;line</source>
        <translation>In der Zeit&amp;leiste</translation>
    </message>
    <message>
        <source>While the table of ops has the focus</source>
        <translation>Wenn die Tabelle den Fokus hat</translation>
    </message>
    <message>
        <source>&amp;Edit the order</source>
        <translation>Reihenfolge &amp;bearbeiten</translation>
    </message>
    <message>
        <source>Edit the order</source>
        <translation>Reihenfolge bearbeiten</translation>
    </message>
    <message>
        <source>Place the forwards and backwards of each stage yourself</source>
        <translation>Setze die Vorwärts- und Rückwärtsläufe jeder Stufe selbst</translation>
    </message>
    <message>
        <source>Who computes what, when</source>
        <translation>Wer rechnet wann was</translation>
    </message>
    <message>
        <source>Each row is one **rank**, and each bar one micro-batch that passes forward or backward through the layers of that rank. Hatched time is **idle**: the bubble. Above stands the prediction; press **Run**, and what real ranks did appears below it.</source>
        <translation>Jede Zeile ist ein **Rang**, und jeder Balken ein Mikro-Batch, das vorwärts oder rückwärts durch die Schichten dieses Ranges geht. Schraffierte Zeit ist **untätig**: die Blase. Oben steht die Vorhersage; drücke **Starten**, und darunter erscheint, was echte Ränge taten.</translation>
    </message>
    <message>
        <source>Click a bar to see how long it takes and what it waited for; drag over a time to see how it is spent.</source>
        <translation>Klicke auf einen Balken, um zu sehen, wie lange er dauert und worauf er gewartet hat; ziehe über eine Zeit, um zu sehen, wie sie verbracht wird.</translation>
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
        <source>Worth knowing</source>
        <translation>Gut zu wissen</translation>
    </message>
    <message>
        <source>bubble of the longest rank, from its first to its last action &lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Blase des längsten Rangs, von seiner ersten bis zu seiner letzten Aktion &lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>Selected</source>
        <translation>Ausgewählt</translation>
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
        <source>The losses and all gradients differ from one rank in fp32 by no more than those of one rank in 16 bit do.</source>
        <translation>Verluste und alle Gradienten weichen von einem Rang in fp32 nicht mehr ab als die eines Rangs in 16 Bit.</translation>
    </message>
    <message>
        <source>The run differs from one rank in fp32 by more than rounding to 16 bit explains.</source>
        <translation>Der Lauf weicht von einem Rang in fp32 mehr ab, als das Runden auf 16 Bit erklärt.</translation>
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
    <message>
        <source>Formula, without transfers</source>
        <translation>Formel, ohne Übertragungen</translation>
    </message>
    <message>
        <source>%1 times, %2</source>
        <translation>%1-mal, %2</translation>
    </message>
    <message>
        <source>Predicted, with transfers</source>
        <translation>Vorhergesagt, mit Übertragungen</translation>
    </message>
    <message>
        <source>bubble of whole step &lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Blase am ganzen Schritt &lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>bubble over ideal time &lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Blase zur idealen Zeit &lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Verlust</translation>
    </message>
    <message>
        <source>The settings are not valid; the formula comes back with them.</source>
        <translation>Die Einstellungen sind ungültig; mit ihnen kommt die Formel wieder.</translation>
    </message>
    <message>
        <source>loss = mean of −ln p(next token) over the tokens of a step</source>
        <translation>Verlust = Mittel von −ln p(nächstes Token) über die Token eines Schritts</translation>
    </message>
    <message>
        <source>at first, by chance: ln V = ln %1 = &lt;b&gt;%2&lt;/b&gt;</source>
        <translation>anfangs, durch Raten: ln V = ln %1 = &lt;b&gt;%2&lt;/b&gt;</translation>
    </message>
    <message>
        <source>Nothing predicts it: Run trains for real and shows the loss of every step.</source>
        <translation>Nichts sagt ihn vorher: Starten trainiert wirklich und zeigt den Verlust jedes Schritts.</translation>
    </message>
    <message>
        <source>step 1: %1 …</source>
        <translation>Schritt 1: %1 …</translation>
    </message>
    <message>
        <source>step %1: %2</source>
        <translation>Schritt %1: %2</translation>
    </message>
    <message>
        <source>The run is under way; warm-up steps count, as they train too.</source>
        <translation>Der Lauf ist im Gange; Anlaufschritte zählen mit, denn auch sie trainieren.</translation>
    </message>
    <message>
        <source>Observed by the run; warm-up steps count, as they train too.</source>
        <translation>Im Lauf beobachtet; Anlaufschritte zählen mit, denn auch sie trainieren.</translation>
    </message>
    <message>
        <source>throughput</source>
        <translation>Durchsatz</translation>
    </message>
    <message>
        <source>tokens of a step / step time = %1 / %2 = &lt;b&gt;%3&lt;/b&gt;</source>
        <translation>Token eines Schritts / Schrittdauer = %1 / %2 = &lt;b&gt;%3&lt;/b&gt;</translation>
    </message>
    <message>
        <source>Where the figure comes from</source>
        <translation>Woher die Zahl kommt</translation>
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
    <name>parallelarium::SetupFold</name>
    <message>
        <source>Training setup, folded</source>
        <translation>Einstellungen des Trainings, zugeklappt</translation>
    </message>
    <message>
        <source>Training setup</source>
        <translation>Einstellungen des Trainings</translation>
    </message>
    <message>
        <source>A collective stands alone here: nothing of the training setup is used.</source>
        <translation>Ein Kollektiv steht hier für sich: nichts von den Einstellungen des Trainings wird benutzt.</translation>
    </message>
    <message>
        <source>Show the training setup</source>
        <translation>Einstellungen zeigen</translation>
    </message>
    <message>
        <source>Collectives of its step</source>
        <translation>Kollektive seines Schritts</translation>
    </message>
    <message>
        <source>This step has none: stages send to their neighbours. With Data DP or Tensor TP at 2 or more, ranks combine gradients or activations.</source>
        <translation>Dieser Schritt hat keine: Stufen senden an ihre Nachbarn. Mit Daten DP oder Tensor TP ab 2 verknüpfen Ränge Gradienten oder Aktivierungen.</translation>
    </message>
    <message>
        <source>Show it in this view</source>
        <translation>In dieser Ansicht zeigen</translation>
    </message>
    <message>
        <source>and %1 smaller ones</source>
        <translation>und %1 kleinere</translation>
    </message>
    <message>
        <source>The bytes are hidden until you answer.</source>
        <translation>Die Bytes sind verborgen, bis du antwortest.</translation>
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
        <source>%1 parameters · %2 wide · %3 heads</source>
        <translation>%1 Parameter · %2 breit · %3 Köpfe</translation>
    </message>
    <message>
        <source>%1 parameters, %2 active · %3 wide</source>
        <translation>%1 Parameter, %2 aktiv · %3 breit</translation>
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
        <source>%1 rank on %2 GPU</source>
        <translation>%1 Rang auf %2 GPU</translation>
    </message>
    <message>
        <source>%1 ranks on %2 GPU</source>
        <translation>%1 Ränge auf %2 GPU</translation>
    </message>
    <message>
        <source>%1 rank on %2 GPUs</source>
        <translation>%1 Rang auf %2 GPUs</translation>
    </message>
    <message>
        <source>%1 ranks on %2 GPUs</source>
        <translation>%1 Ränge auf %2 GPUs</translation>
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
        <source>World size</source>
        <translation>Gesamt</translation>
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
        <source>All settings …</source>
        <translation>Alle Einstellungen …</translation>
    </message>
    <message>
        <source>%1 per node</source>
        <translation>%1 je Knoten</translation>
    </message>
    <message>
        <source>%1 GPU</source>
        <translation>%1 GPU</translation>
    </message>
    <message>
        <source>%1 GPUs</source>
        <translation>%1 GPUs</translation>
    </message>
    <message>
        <source>%1 core</source>
        <translation>%1 Kern</translation>
    </message>
    <message>
        <source>%1 cores</source>
        <translation>%1 Kerne</translation>
    </message>
    <message>
        <source>%1 rank on %2 node</source>
        <translation>%1 Rang auf %2 Knoten</translation>
    </message>
    <message>
        <source>%1 ranks on %2 node</source>
        <translation>%1 Ränge auf %2 Knoten</translation>
    </message>
    <message>
        <source>Locked by this part of the lesson</source>
        <translation>In diesem Teil der Lektion gesperrt</translation>
    </message>
    <message>
        <source>Change …</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>Change rates, memory and links of the devices</source>
        <translation>Raten, Speicher und Verbindungen der Geräte ändern</translation>
    </message>
    <message>
        <source>Free in this part</source>
        <translation>In diesem Teil frei</translation>
    </message>
    <message>
        <source>An order of your own. Keys open the list; a schedule from it replaces the order, and Undo brings it back.</source>
        <translation>Eine eigene Reihenfolge. Tasten öffnen die Liste; ein Ablaufplan daraus ersetzt die Reihenfolge, und Rückgängig bringt sie zurück.</translation>
    </message>
</context>
<context>
    <name>parallelarium::ShortcutSheet</name>
    <message>
        <source>Keys of the current view</source>
        <translation>Tasten der aktuellen Ansicht</translation>
    </message>
    <message>
        <source>With the mouse on the timeline</source>
        <translation>Mit der Maus auf der Zeitleiste</translation>
    </message>
    <message>
        <source>Ctrl+wheel</source>
        <translation>Strg+Rad</translation>
    </message>
    <message>
        <source>Zoom at the pointer</source>
        <translation>Am Zeiger vergrößern</translation>
    </message>
    <message>
        <source>Wheel, Shift+wheel</source>
        <translation>Rad, Umschalt+Rad</translation>
    </message>
    <message>
        <source>Scroll; move through time</source>
        <translation>Blättern; durch die Zeit gehen</translation>
    </message>
    <message>
        <source>Drag</source>
        <translation>Ziehen</translation>
    </message>
    <message>
        <source>Select a range of time</source>
        <translation>Einen Zeitbereich wählen</translation>
    </message>
    <message>
        <source>Reset the keys</source>
        <translation>Tasten zurücksetzen</translation>
    </message>
    <message>
        <source>Single keys act; press another key in a field to change it</source>
        <translation>Einzelne Tasten wirken; drücke in einem Feld eine andere Taste, um sie zu ändern</translation>
    </message>
    <message>
        <source>Key: %1</source>
        <translation>Taste: %1</translation>
    </message>
    <message>
        <source>Help and shortcuts</source>
        <translation>Hilfe und Tasten</translation>
    </message>
    <message>
        <source>While you present</source>
        <translation>Während du vorführst</translation>
    </message>
    <message>
        <source>Page Down, Page Up</source>
        <translation>Bild ab, Bild auf</translation>
    </message>
    <message>
        <source>Next step, previous step of the lesson</source>
        <translation>Nächster, voriger Schritt der Lektion</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Leave the presentation</source>
        <translation>Vorführung beenden</translation>
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
        <source>Part %1 of %2</source>
        <translation>Teil %1 von %2</translation>
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
        <source>The ops are hidden until you answer.</source>
        <translation>Die Vorgänge sind verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>No op is called “%1”; try F3, backward 2, all-reduce, or stage 1.</source>
        <translation>Kein Vorgang heißt „%1“; versuche F3, rückwärts 2, all-reduce oder Stufe 1.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
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
    <message>
        <source>Learn</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>Explore</source>
        <translation>Erkunden</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Planen</translation>
    </message>
    <message>
        <source>Room</source>
        <translation>Raum</translation>
    </message>
    <message>
        <source>Lessons, with the views that they need</source>
        <translation>Lektionen mit den Ansichten, die sie brauchen</translation>
    </message>
    <message>
        <source>Every setting and every view</source>
        <translation>Alle Einstellungen und Ansichten</translation>
    </message>
    <message>
        <source>Search for a good setup, and compare</source>
        <translation>Gute Einstellungen suchen und vergleichen</translation>
    </message>
</context>
<context>
    <name>parallelarium::TrainingStep</name>
    <message>
        <source>Time in the step</source>
        <translation>Zeit im Schritt</translation>
    </message>
    <message>
        <source>Timeline: Chrome trace JSON, for Perfetto</source>
        <translation>Zeitleiste: Chrome-Trace-JSON, für Perfetto</translation>
    </message>
    <message>
        <source>Timeline: table (CSV)</source>
        <translation>Zeitleiste: Tabelle (CSV)</translation>
    </message>
    <message>
        <source>Run, repeat it on one rank, and compare losses and gradients</source>
        <translation>Laufen lassen, auf einem Rang wiederholen, Verluste und Gradienten vergleichen</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>6 ms of 10 ms</comment>
        <translation>%1 von %2</translation>
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
</context>
<context>
    <name>parallelarium::View</name>
    <message>
        <source>No closed formula here: the figure is counted op by op in the program that the ranks run.</source>
        <translation>Hier gibt es keine geschlossene Formel: die Zahl wird Operation für Operation in dem Programm gezählt, das die Ränge ausführen.</translation>
    </message>
</context>
<context>
    <name>parallelarium::Window</name>
    <message>
        <source>For &amp;teachers</source>
        <translation>Für &amp;Lehrende</translation>
    </message>
    <message>
        <source>Sessions, playlists, exams, marking, and how to write a lesson</source>
        <translation>Stunden, Listen, Prüfungen, Bewertung, und wie man eine Lektion schreibt</translation>
    </message>
    <message>
        <source>There is no plan yet: search first.</source>
        <translation>Es gibt noch keinen Plan: Starte zuerst eine Suche.</translation>
    </message>
    <message>
        <source>Each techni&amp;que alone …</source>
        <translation>Jede Techni&amp;k für sich …</translation>
    </message>
    <message>
        <source>What DP, ZeRO, TP, SP, CP, PP and EP give and cost for what is set; each opens as a setup</source>
        <translation>Was DP, ZeRO, TP, SP, CP, PP und EP für das Eingestellte geben und kosten; jede öffnet sich als Einstellung</translation>
    </message>
    <message>
        <source>One technique alone</source>
        <translation>Eine Technik allein</translation>
    </message>
    <message>
        <source>Publis&amp;hed runs …</source>
        <translation>Verö&amp;ffentlichte Läufe …</translation>
    </message>
    <message>
        <source>What others measured beside its prediction; each row opens as a setup</source>
        <translation>Was andere gemessen haben neben der Vorhersage; jede Zeile lässt sich öffnen</translation>
    </message>
    <message>
        <source>Views</source>
        <translation>Ansichten</translation>
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
        <source>Fi&amp;nd …</source>
        <translation>S&amp;uchen …</translation>
    </message>
    <message>
        <source>An op of the timeline, a rank in the Mesh view, or a lesson on the map</source>
        <translation>Einen Vorgang der Zeitleiste, einen Rang in der Gitteransicht oder eine Lektion auf der Karte</translation>
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
        <source>&amp;Earlier runs</source>
        <translation>&amp;Frühere Läufe</translation>
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
        <translation>Eine Werkbank, um verteiltes Training von Sprachmodellen zu lernen und zu planen: jedes Bild wird erst vorhergesagt und dann auf echten Rängen ausgeführt.

Das Fenster ist freie Software unter der GNU General Public License, Version 3 oder später; Engine, Kernels und Lektionen stehen unter der Apache License 2.0.</translation>
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
    <message>
        <source>Wrote %1.</source>
        <translation>%1 geschrieben.</translation>
    </message>
    <message>
        <source>PNG, SVG or PDF of the view in front</source>
        <translation>PNG, SVG oder PDF der vorderen Ansicht</translation>
    </message>
    <message>
        <source>All keys, and where else help is</source>
        <translation>Alle Tasten, und wo es sonst Hilfe gibt</translation>
    </message>
    <message>
        <source>&amp;Words</source>
        <translation>&amp;Wörter</translation>
    </message>
    <message>
        <source>What the words in this window mean</source>
        <translation>Was die Wörter in diesem Fenster bedeuten</translation>
    </message>
    <message>
        <source>&amp;Zoom</source>
        <translation>&amp;Zoom</translation>
    </message>
    <message>
        <source>Play&amp;back</source>
        <translation>Wiedergab&amp;e</translation>
    </message>
    <message>
        <source>Colo&amp;urs</source>
        <translation>Fa&amp;rben</translation>
    </message>
    <message>
        <source>Pan&amp;es</source>
        <translation>&amp;Bereiche</translation>
    </message>
    <message>
        <source>&amp;Learn</source>
        <translation>&amp;Lernen</translation>
    </message>
    <message>
        <source>&amp;Explore</source>
        <translation>&amp;Erkunden</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>&amp;Planen</translation>
    </message>
    <message>
        <source>R&amp;ooms</source>
        <translation>Rä&amp;ume</translation>
    </message>
    <message>
        <source>All views</source>
        <translation>Alle Ansichten</translation>
    </message>
    <message>
        <source>Explore; the lesson stays</source>
        <translation>Erkunden; die Lektion bleibt</translation>
    </message>
    <message>
        <source>Change de&amp;vices …</source>
        <translation>&amp;Geräte ändern …</translation>
    </message>
    <message>
        <source>What to &amp;take away …</source>
        <translation>Was &amp;bleibt …</translation>
    </message>
    <message>
        <source>Of every lesson you have done: what to keep, on two printed pages</source>
        <translation>Von jeder Lektion, die du gemacht hast: was du behältst, auf zwei Druckseiten</translation>
    </message>
    <message>
        <source>Plan &amp;views</source>
        <translation>Planungsa&amp;nsichten</translation>
    </message>
    <message>
        <source>&amp;Handout …</source>
        <translation>Arbei&amp;tsblatt …</translation>
    </message>
    <message>
        <source>The lesson on paper, with its numbers: PDF or a web page</source>
        <translation>Die Lektion auf Papier, mit ihren Zahlen: PDF oder Webseite</translation>
    </message>
    <message>
        <source>&amp;Class …</source>
        <translation>&amp;Kurs …</translation>
    </message>
    <message>
        <source>In an exam the planner is off.</source>
        <translation>In einer Prüfung ist der Planer aus.</translation>
    </message>
    <message>
        <source>Numbers that follow from a class code and your name; exams</source>
        <translation>Zahlen, die aus einem Kurs-Code und deinem Namen folgen; Prüfungen</translation>
    </message>
    <message>
        <source>Open a &amp;playlist …</source>
        <translation>Eine &amp;Lektionenliste öffnen …</translation>
    </message>
    <message>
        <source>Lessons that a teacher put in order</source>
        <translation>Lektionen in der Reihenfolge einer Lehrkraft</translation>
    </message>
    <message>
        <source>Open a playlist</source>
        <translation>Eine Lektionenliste öffnen</translation>
    </message>
    <message>
        <source>Text files (*.txt);;All files (*)</source>
        <translation>Textdateien (*.txt);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Close the playlist</source>
        <translation>Lektionenliste schließen</translation>
    </message>
    <message>
        <source>Takes the playlist away; what is done stays</source>
        <translation>Nimmt die Lektionenliste weg; Erledigtes bleibt</translation>
    </message>
    <message>
        <source>Keep progress in a &amp;folder …</source>
        <translation>Fortschritt in einem &amp;Ordner ablegen …</translation>
    </message>
    <message>
        <source>Such as one on a stick: what you have done is read from there and kept there</source>
        <translation>Etwa auf einem Stick: Was du erledigt hast, wird dort gelesen und dort abgelegt</translation>
    </message>
    <message>
        <source>Keep progress in a folder</source>
        <translation>Fortschritt in einem Ordner ablegen</translation>
    </message>
    <message>
        <source>P&amp;resent</source>
        <translation>&amp;Vorführen</translation>
    </message>
    <message>
        <source>For a class: large text and nothing around it; Page Down and Page Up change the step</source>
        <translation>Vor einem Kurs: großer Text und nichts darum; Bild ab und Bild auf wechseln den Schritt</translation>
    </message>
    <message>
        <source>&amp;Keep progress on this computer</source>
        <translation>Fortschritt auf diesem &amp;Rechner ablegen</translation>
    </message>
    <message>
        <source>No longer in the folder that was chosen; what lies there stays there</source>
        <translation>Nicht mehr im gewählten Ordner; was dort liegt, bleibt dort</translation>
    </message>
    <message>
        <source>Answer the exam&apos;s question first: leaving it would show what it asks.</source>
        <translation>Beantworte zuerst die Frage der Prüfung: Sie zu verlassen würde zeigen, wonach sie fragt.</translation>
    </message>
    <message>
        <source>Esc leaves</source>
        <translation>Esc beendet</translation>
    </message>
    <message>
        <source>The folder %1, where your progress is kept, is not there. Put the stick in and start again, or choose Lessons &gt; Keep progress on this computer.</source>
        <translation>Der Ordner %1, in dem dein Fortschritt liegt, ist nicht da. Stecke den Stick ein und starte neu, oder wähle Lektionen &gt; Fortschritt auf diesem Rechner ablegen.</translation>
    </message>
    <message>
        <source>Read a launch &amp;line …</source>
        <translation>Startzei&amp;le lesen …</translation>
    </message>
    <message>
        <source>A launch line or configuration of Megatron-LM, torchtitan, DeepSpeed and others</source>
        <translation>Eine Startzeile oder Konfiguration von Megatron-LM, torchtitan, DeepSpeed und anderen</translation>
    </message>
    <message>
        <source>Export launch l&amp;ine …</source>
        <translation>Startze&amp;ile exportieren …</translation>
    </message>
    <message>
        <source>The setup as Megatron-LM, torchtitan, DeepSpeed and others say it</source>
        <translation>Das Setup, wie Megatron-LM, torchtitan, DeepSpeed und andere es sagen</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Verwenden</translation>
    </message>
    <message>
        <source>The planner is off until you have committed your plan.</source>
        <translation>Der Planer ist aus, bis du dich auf deinen Plan festgelegt hast.</translation>
    </message>
    <message>
        <source>Export the pla&amp;n …</source>
        <translation>&amp;Plan exportieren …</translation>
    </message>
    <message>
        <source>Of a lesson with points: your plan, its evidence and its points, on two printed pages</source>
        <translation>Aus einer Lektion mit Punkten: dein Plan, seine Belege und seine Punkte, auf zwei Druckseiten</translation>
    </message>
    <message>
        <source>&amp;Open a lesson of a folder …</source>
        <translation>Lektion aus einem Ordner ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>Open a lesson</source>
        <translation>Eine Lektion öffnen</translation>
    </message>
    <message>
        <source>Such as one that you write: it is read again whenever its files are saved</source>
        <translation>Etwa eine, die du schreibst: sie wird neu gelesen, sobald ihre Dateien gespeichert werden</translation>
    </message>
    <message>
        <source>Recor&amp;d this setup as the step&apos;s start</source>
        <translation>Einstellungen als Anfang des &amp;Schrittes festhalten</translation>
    </message>
    <message>
        <source>Record this setup as the step&apos;s sol&amp;ution</source>
        <translation>Einstellungen als Lös&amp;ung des Schrittes festhalten</translation>
    </message>
    <message>
        <source>Writes it into the lesson&apos;s file</source>
        <translation>Schreibt sie in die Datei der Lektion</translation>
    </message>
    <message>
        <source>Nothing was written: “%1” says so already.</source>
        <translation>Nichts wurde geschrieben: „%1“ sagt es schon so.</translation>
    </message>
    <message>
        <source>Written to lesson.json, at “%1”: %2.</source>
        <translation>In lesson.json geschrieben, bei „%1“: %2.</translation>
    </message>
    <message>
        <source>Set %1 to %2</source>
        <translation>%1 auf %2 stellen</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>CSV, a line per op, plan or point</source>
        <translation>CSV, eine Zeile je Vorgang, Plan oder Punkt</translation>
    </message>
    <message>
        <source>The small copy is %1 with %2. Its step took %3 (%4); predicted: %5.</source>
        <translation>Die kleine Kopie ist %1 mit %2. Ihr Schritt dauerte %3 (%4); vorhergesagt: %5.</translation>
    </message>
    <message>
        <source>See it in Explore</source>
        <translation>In Erkunden ansehen</translation>
    </message>
    <message>
        <source>The planner solves the task that was drawn …</source>
        <translation>Der Planer löst die Aufgabe, die gezogen wurde …</translation>
    </message>
</context>
<context>
    <name>parallelarium::WordsSheet</name>
    <message>
        <source>Words</source>
        <translation>Wörter</translation>
    </message>
    <message>
        <source>Search words and meanings</source>
        <translation>Wörter und Bedeutungen suchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Same word, different meaning</source>
        <translation>Dasselbe Wort, andere Bedeutung</translation>
    </message>
    <message>
        <source>Lesson: %1</source>
        <translation>Lektion: %1</translation>
    </message>
    <message>
        <source>Open the lesson on %1: %2</source>
        <translation>Die Lektion zu %1 öffnen: %2</translation>
    </message>
    <message>
        <source>In a picture: %1</source>
        <translation>Im Bild: %1</translation>
    </message>
    <message>
        <source>Show %1 in a picture: %2</source>
        <translation>%1 im Bild zeigen: %2</translation>
    </message>
    <message>
        <source>No word and no meaning has “%1” in it.</source>
        <translation>Kein Wort und keine Bedeutung enthält „%1“.</translation>
    </message>
    <message>
        <source>Found: %1</source>
        <translation>Gefunden: %1</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
</context>
<context>
    <name>published</name>
    <message>
        <source>GLM-5: size of the model</source>
        <translation>GLM-5: Größe des Modells</translation>
    </message>
    <message>
        <source>No step time, no share of the peak and no memory of a GPU is published, nor how many GPUs trained it, by which degrees of parallelism and in which batches: its parameters are all that can be compared.</source>
        <translation>Weder eine Schrittzeit noch ein Anteil an der Spitzenleistung noch der Speicher einer GPU ist veröffentlicht, auch nicht, wie viele GPUs es trainiert haben, mit welchen Graden der Parallelität und in welchen Batches: Nur die Parameter lassen sich vergleichen.</translation>
    </message>
    <message>
        <source>The Setup is one of many that hold it; parameters do not depend on it. The multi-token prediction module and the indexer of sparse attention are left out.</source>
        <translation>Das Setup ist eines von vielen, die es fassen; die Parameter hängen nicht davon ab. Das Modul zur Vorhersage mehrerer Tokens und der Indexer der dünn besetzten Attention fehlen.</translation>
    </message>
    <message>
        <source>DeepSeek-V3 on 2048 H800</source>
        <translation>DeepSeek-V3 auf 2048 H800</translation>
    </message>
    <message>
        <source>The step follows from 2,664,000 GPU hours for 14.8 trillion tokens on 2048 GPUs, in batches of 15,360 sequences; batches were smaller in the first 469 billion tokens, which is left out.</source>
        <translation>Der Schritt folgt aus 2.664.000 GPU-Stunden für 14,8 Billionen Token auf 2048 GPUs, in Batches von 15.360 Sequenzen; dass die Batches in den ersten 469 Milliarden Token kleiner waren, bleibt weg.</translation>
    </message>
    <message>
        <source>Micro-batches of one sequence; how 61 layers are cut into 16 stages is not said; here the last two and the first have three.</source>
        <translation>Mikro-Batches von einer Sequenz; wie 61 Schichten auf 16 Stufen verteilt sind, ist nicht gesagt; hier haben die erste und die letzten zwei drei.</translation>
    </message>
    <message>
        <source>The module that predicts a second token, and what the hours had beside steps, are left out.</source>
        <translation>Das Modul, das ein zweites Token vorhersagt, und was die Stunden außer Schritten enthielten, fehlen.</translation>
    </message>
    <message>
        <source>What waits for a backward is in FP8, and in 12 bits before the attention&apos;s projection (section 3.3.3); here so are gradients that wait for their weights.</source>
        <translation>Was auf einen Rückwärtslauf wartet, steht in FP8, vor der Projektion der Attention in 12 Bit (Abschnitt 3.3.3); hier auch Gradienten, die auf ihre Gewichte warten.</translation>
    </message>
    <message>
        <source>Where the router&apos;s weights meet the experts is not said; here between their products, as in Megatron-Core, so that no results of experts wait.</source>
        <translation>Wo die Router-Gewichte auf die Experten treffen, ist nicht gesagt; hier zwischen deren Produkten wie in Megatron-Core, sodass keine Ergebnisse von Experten warten.</translation>
    </message>
    <message>
        <source>Kimi K2: states of a GPU</source>
        <translation>Kimi K2: Zustände einer GPU</translation>
    </message>
    <message>
        <source>The report says approximately 30 GB for all states. Optimizer states are spread over the nodes, whose number is not said, and of a GPU negligible where these are many. Here 1024 nodes: 32 micro-batches for each of 512 replicas make the batch of 67 M tokens (section 2.5), and optimizer states are 3 % of the states. With 256 nodes they would be 13 %, and all states 30.9 GiB.</source>
        <translation>Der Bericht nennt etwa 30 GB für alle Zustände. Die des Optimierers sind über die Knoten verteilt, deren Zahl nicht gesagt ist, und von einer GPU zu vernachlässigen, wo es viele sind. Hier 1024 Knoten: 32 Micro-Batches für jede von 512 Repliken ergeben den Batch von 67 Mio. Token (Abschnitt 2.5), und die Zustände des Optimierers sind 3 % aller. Mit 256 Knoten wären sie 13 %, und alle Zustände 30,9 GiB.</translation>
    </message>
    <message>
        <source>Virtual stages are not said; states do not depend on them.</source>
        <translation>Virtuelle Stufen sind nicht genannt; die Zustände hängen nicht von ihnen ab.</translation>
    </message>
    <message>
        <source>The optimizer is Muon with one moment in fp32; the report does not say its bytes.</source>
        <translation>Der Optimierer ist Muon mit einem Moment in fp32; der Bericht nennt seine Bytes nicht.</translation>
    </message>
    <message>
        <source>How 61 layers are cut into 16 stages is not said; here the first and the last two have three.</source>
        <translation>Wie 61 Schichten auf 16 Stufen verteilt sind, ist nicht gesagt; hier haben die erste und die letzten zwei drei.</translation>
    </message>
    <message>
        <source>Activations of the first stage</source>
        <translation>Aktivierungen der ersten Stufe</translation>
    </message>
    <message>
        <source>The figure has no numbers; these are those that calculon derived from it (validation.py).</source>
        <translation>Die Abbildung hat keine Zahlen; diese hat calculon aus ihr abgeleitet (validation.py).</translation>
    </message>
    <message>
        <source>Activations of a layer by what saves them</source>
        <translation>Aktivierungen einer Schicht, je nachdem was sie spart</translation>
    </message>
    <message>
        <source>The figure has no numbers; its percentages are those that calculon read off it (validation.py).</source>
        <translation>Die Abbildung hat keine Zahlen; ihre Prozente hat calculon aus ihr abgelesen (validation.py).</translation>
    </message>
    <message>
        <source>They are of a layer with tensor parallelism alone, whose bytes equation 2 of the paper gives.</source>
        <translation>Sie beziehen sich auf eine Schicht mit Tensorparallelität allein, deren Bytes Gleichung 2 des Aufsatzes gibt.</translation>
    </message>
    <message>
        <source>One layer of the 22B model, forward and backward</source>
        <translation>Eine Schicht des 22B-Modells, vorwärts und rückwärts</translation>
    </message>
    <message>
        <source>Attention is unfused and dropout 0.1, as in GPT models of that time.</source>
        <translation>Attention ist unfusioniert und Dropout 0,1, wie bei GPT-Modellen jener Zeit.</translation>
    </message>
    <message>
        <source>All-reduces of input gradients hide behind weight gradients, as the section on Table 4 says.</source>
        <translation>All-Reduces von Eingangsgradienten verbergen sich hinter Gewichtsgradienten, wie der Abschnitt zu Tabelle 4 sagt.</translation>
    </message>
    <message>
        <source>GPT models of 22 billion to 1 trillion parameters, full against selective recompute</source>
        <translation>GPT-Modelle von 22 Milliarden bis 1 Billion Parametern, volle gegen selektive Neuberechnung</translation>
    </message>
    <message>
        <source>Gradients are accumulated and reduced in fp32, after the backward (Megatron-LM, local distributed data parallel).</source>
        <translation>Gradienten werden in fp32 summiert und nach der Rückwärtsrechnung reduziert (Megatron-LM, lokales Distributed Data Parallel).</translation>
    </message>
    <message>
        <source>Mixtral 8x22B by kind of parallelism</source>
        <translation>Mixtral 8x22B nach Art der Parallelität</translation>
    </message>
    <message>
        <source>The global batch is 256 sequences of 4096 tokens (section 6.4); micro-batch, recompute and virtual stages are not said: here 1, none and none.</source>
        <translation>Der globale Batch hat 256 Sequenzen von 4096 Token (Abschnitt 6.4); Mikro-Batch, Neuberechnung und virtuelle Stufen sind nicht genannt: hier 1, keine und keine.</translation>
    </message>
    <message>
        <source>Sequence parallelism goes with tensor parallelism, as Megatron-LM asks of experts.</source>
        <translation>Zur Tensorparallelität gehört Sequenzparallelität, wie Megatron-LM es bei Experten verlangt.</translation>
    </message>
    <message>
        <source>With folding, experts are whole (ETP 1), and EP 8 is taken out of TP 2 and DP (Table 3).</source>
        <translation>Mit Faltung sind die Experten ganz (ETP 1), und EP 8 wird aus TP 2 und DP genommen (Tabelle 3).</translation>
    </message>
    <message>
        <source>Experts are whole where TP is above 1, as expert_tensor_parallel_size = 1 of the same recipes says. DeepSeek-V3 on H100 drops no token, so that its tokens go once to a node (DeepEP); whether its exchanges hide behind another micro-batch (a2a_1f1b) is not in the table, and here they do not. It recomputes the up-projection, and gradients are reduced after the backward; the recompute of the MLPs of its dense layers is left out.</source>
        <translation>Experten sind ganz, wo TP über 1 ist, wie expert_tensor_parallel_size = 1 derselben Rezepte sagt. Bei DeepSeek-V3 auf H100 fällt kein Token weg, und so gehen seine Token einmal an jeden Knoten (DeepEP); ob sein Austausch hinter einem anderen Mikro-Batch steckt (a2a_1f1b), steht nicht in der Tabelle, und hier tut er es nicht. Es berechnet die Aufwärtsprojektion neu, und Gradienten werden nach dem Backward reduziert; die Neuberechnung der MLPs seiner dichten Schichten ist weggelassen.</translation>
    </message>
    <message>
        <source>Experts are whole where TP is above 1 (Qwen3 235B on H100), as expert_tensor_parallel_size = 1 of the same recipes says.</source>
        <translation>Experten sind ganz, wo TP über 1 ist (Qwen3 235B auf H100), wie expert_tensor_parallel_size = 1 derselben Rezepte sagt.</translation>
    </message>
    <message>
        <source>Experts are whole where TP is above 1 (Qwen3 235B on H100), as EP 32 of TP 2 and DP 16 asks. Its exchanges, which the recipe hides behind another micro-batch (overlap_moe_expert_parallel_comm), hide behind nothing here.</source>
        <translation>Experten sind ganz, wo TP über 1 ist (Qwen3 235B auf H100), wie es EP 32 bei TP 2 und DP 16 verlangt. Sein Austausch, den das Rezept hinter einem anderen Mikro-Batch versteckt (overlap_moe_expert_parallel_comm), steckt hier hinter nichts.</translation>
    </message>
    <message>
        <source>Which scores the MFU counts is not said; here those that a causal mask leaves.</source>
        <translation>Welche Scores die MFU zählt, ist nicht gesagt; hier die, die eine kausale Maske übrig lässt.</translation>
    </message>
    <message>
        <source>Mixtral 8x22B on more and more GPUs</source>
        <translation>Mixtral 8x22B auf immer mehr GPUs</translation>
    </message>
    <message>
        <source>The global batch is 1024 sequences of 4096 tokens (section 4.3); micro-batch, recompute and virtual stages are not said: here 1, none and none.</source>
        <translation>Der globale Batch hat 1024 Sequenzen von 4096 Token (Abschnitt 4.3); Mikro-Batch, Neuberechnung und virtuelle Stufen sind nicht genannt: hier 1, keine und keine.</translation>
    </message>
    <message>
        <source>The mappings are those of Table 3 (section 6.4).</source>
        <translation>Die Aufteilungen sind die von Tabelle 3 (Abschnitt 6.4).</translation>
    </message>
    <message>
        <source>Llama 3 405B on up to 16384 H100</source>
        <translation>Llama 3 405B auf bis zu 16384 H100</translation>
    </message>
    <message>
        <source>Interleaved stages hold one layer each, and the first and the last the table and the head alone (126 layers on 128 stages).</source>
        <translation>Verschränkte Stufen halten je eine Schicht, die erste und die letzte nur Tabelle und Kopf (126 Schichten auf 128 Stufen).</translation>
    </message>
    <message>
        <source>FSDP that keeps parameters is ZeRO-1 with gradients reduced once; the paper shards gradients too. It gathers parameters ahead while it computes (section 3.3.2: asynchronous prefetches of shards).</source>
        <translation>FSDP, das Parameter behält, ist ZeRO-1 mit einmal reduzierten Gradienten; der Aufsatz teilt auch Gradienten auf. Er sammelt Parameter im Voraus, während er rechnet (Abschnitt 3.3.2: asynchrones Vorladen von Teilen).</translation>
    </message>
    <message>
        <source>Context parallelism gathers keys and values, as the paper says.</source>
        <translation>Kontextparallelität sammelt Schlüssel und Werte, wie der Aufsatz sagt.</translation>
    </message>
    <message>
        <source>Pre-training with Megatron-Bridge, container 25.11</source>
        <translation>Vortraining mit Megatron-Bridge, Container 25.11</translation>
    </message>
    <message>
        <source>Of the 72 GPUs of a rack 64 are used, as the numbers of GPUs are multiples of 64 (or one node&apos;s part of it).</source>
        <translation>Von den 72 GPUs eines Schranks werden 64 benutzt, da die Zahlen der GPUs Vielfache von 64 sind (oder ein Teil davon).</translation>
    </message>
    <message>
        <source>Gradients and optimizer states: fp32, sharded (distributed optimizer); gradients reduced during the backward.</source>
        <translation>Gradienten und Optimiererzustände: fp32, aufgeteilt (verteilter Optimierer); Gradienten werden während der Rückwärtsrechnung reduziert.</translation>
    </message>
    <message>
        <source>Routing is balanced by force and no token is dropped, as the note says.</source>
        <translation>Das Routing ist erzwungen gleichmäßig und kein Token fällt weg, wie die Anmerkung sagt.</translation>
    </message>
    <message>
        <source>What is recomputed is not in the table. It stands in the recipes of the same repository (tag v0.2.0, scripts/performance/configs): norms and the activation of experts of GPT OSS on GB200, B200 and H100, the activation of experts of DeepSeek-V3 on GB300 and its up-projection on GB200 and B200, five layers of Llama 3 8B on H100, and nothing in the other rows here.</source>
        <translation>Was neu berechnet wird, steht nicht in der Tabelle. Es steht in den Rezepten desselben Repositorys (Tag v0.2.0, scripts/performance/configs): Normen und die Aktivierung der Experten von GPT OSS auf GB200, B200 und H100, die Aktivierung der Experten von DeepSeek-V3 auf GB300 und seine Aufwärtsprojektion auf GB200 und B200, fünf Schichten von Llama 3 8B auf H100, und in den anderen Zeilen hier nichts.</translation>
    </message>
    <message>
        <source>FP8, FP8-CS and MXFP8 stand for the same products here, whose rates were measured with one scale for a tensor. Activations that FSDP's recipes move to the host's memory (cpu_offloading_num_layers) stay on the GPU here.</source>
        <translation>FP8, FP8-CS und MXFP8 stehen hier für dieselben Produkte, deren Raten mit einer Skala je Tensor gemessen wurden. Aktivierungen, die die Rezepte mit FSDP in den Speicher des Hosts auslagern (cpu_offloading_num_layers), bleiben hier auf der GPU.</translation>
    </message>
    <message>
        <source>How layers are cut where they do not divide by the stages is not in the table; here DeepSeek-V3 as its recipe cuts it (set_deepseek_v3_pipeline_model_parallel_layout), first and last chunk shorter where it names no cut; else table and head count as a layer each where that divides, or the last stages have one less.</source>
        <translation>Wie Schichten verteilt sind, wo sie sich nicht durch die Stufen teilen lassen, steht nicht in der Tabelle; hier DeepSeek-V3, wie sein Rezept es teilt (set_deepseek_v3_pipeline_model_parallel_layout), mit kürzerem erstem und letztem Teilstück, wo es keine Teilung nennt; sonst zählen Tabelle und Kopf als je eine Schicht, wo das aufgeht, oder die letzten Stufen haben eine weniger.</translation>
    </message>
    <message>
        <source>Routing is balanced by force and no token is dropped, as the note says. Groups of experts that span nodes send once per node, as the recipes' dispatchers do (DeepEP, HybridEP), but Qwen3 235B's on H100, whose recipe takes NCCL's all-to-all.</source>
        <translation>Das Routing ist erzwungen gleichmäßig und kein Token fällt weg, wie die Anmerkung sagt. Gruppen von Experten, die über Knoten reichen, senden einmal je Knoten, wie es die Verteiler der Rezepte tun (DeepEP, HybridEP), nur Qwen3 235B auf H100 nicht, dessen Rezept das All-to-All von NCCL nimmt.</translation>
    </message>
    <message>
        <source>What is recomputed is not in the table. It stands in the recipes of the same repository (src/megatron/bridge/perf_recipes): norms and the activation of experts of GPT OSS on GB200, B200 and H100, the up-projection of DeepSeek-V3 but on GB200, and nothing in the other rows here; that of the MLPs of DeepSeek-V3's three dense layers on GB200 and B200 is left out.</source>
        <translation>Was neu berechnet wird, steht nicht in der Tabelle. Es steht in den Rezepten desselben Repositorys (src/megatron/bridge/perf_recipes): Normen und die Aktivierung der Experten von GPT OSS auf GB200, B200 und H100, die Aufwärtsprojektion von DeepSeek-V3 außer auf GB200, und in den anderen Zeilen hier nichts; das der MLPs der drei dichten Schichten von DeepSeek-V3 auf GB200 und B200 ist weggelassen.</translation>
    </message>
    <message>
        <source>Its optimizer is Muon, which no setting says.</source>
        <translation>Sein Optimierer ist Muon, wofür es keine Einstellung gibt.</translation>
    </message>
    <message>
        <source>Attention has the rates of FlashAttention-2 as PyTorch 2.11 has it; the PyTorch of the time had it, too.</source>
        <translation>Die Attention hat die Raten von FlashAttention-2, wie PyTorch 2.11 es hat; das PyTorch jener Zeit hatte es auch.</translation>
    </message>
    <message>
        <source>Without torch.compile norms, rotations and activations run op by op, which no setting says; here as compiled.</source>
        <translation>Ohne torch.compile laufen Normen, Drehungen und Aktivierungen Op für Op, wofür es keine Einstellung gibt; hier wie kompiliert.</translation>
    </message>
    <message>
        <source>How layers are cut is not said; here table and head count as a layer each. Micro-batches are as many as stages, torchtitan's default, and interleaving has two chunks.</source>
        <translation>Wie die Schichten geschnitten sind, ist nicht gesagt; hier zählen Tabelle und Kopf als je eine Schicht. Mikro-Batches gibt es so viele wie Stufen, wie torchtitan es ohne Angabe tut, und verschachtelt wird mit zwei Stücken.</translation>
    </message>
    <message>
        <source>How layers are cut is not said; here table and head count as a layer each. Micro-batches are as many as stages, torchtitan's default.</source>
        <translation>Wie die Schichten geschnitten sind, ist nicht gesagt; hier zählen Tabelle und Kopf als je eine Schicht. Mikro-Batches gibt es so viele wie Stufen, wie torchtitan es ohne Angabe tut.</translation>
    </message>
    <message>
        <source>The loss is PyTorch&apos;s own, in fp32 and not compiled (torchtitan 9dec370, train.py, loss_fn), which is said as copies of logits in fp32.</source>
        <translation>Der Verlust ist PyTorchs eigener, in fp32 und nicht kompiliert (torchtitan 9dec370, train.py, loss_fn); als Einstellung sind das Kopien der Logits in fp32.</translation>
    </message>
    <message>
        <source>Memory is what PyTorch has reserved (torchtitan 9dec370, metrics.py, max_reserved_gib): for each stream of FSDP by itself, since what one stream has freed no other takes, and with free blocks that were too small for what came. Predicted is what PyTorch&apos;s allocator reserves for the buffers of two steps and for those that FSDP has beside them, with expandable segments, as the script for one node sets them (run_llama_train.sh).</source>
        <translation>Der Speicher ist der, den PyTorch belegt hat (torchtitan 9dec370, metrics.py, max_reserved_gib): für jeden Stream von FSDP einzeln, denn was einer freigegeben hat, nimmt kein anderer, und mit freien Blöcken, die für Späteres zu klein waren. Vorhergesagt ist, was der Allocator von PyTorch für die Puffer zweier Schritte belegt und für die, die FSDP daneben hat, mit erweiterbaren Segmenten, wie sie das Skript für einen Knoten einstellt (run_llama_train.sh).</translation>
    </message>
    <message>
        <source>Memory is what PyTorch has reserved (torchtitan 9dec370, metrics.py, max_reserved_gib): for each stream of FSDP by itself, since what one stream has freed no other takes, and with free blocks that were too small for what came. Predicted is what PyTorch&apos;s allocator reserves for the buffers of two steps and for those that FSDP has beside them, without expandable segments, which the script for several nodes does not set (multinode_trainer.slurm).</source>
        <translation>Der Speicher ist der, den PyTorch belegt hat (torchtitan 9dec370, metrics.py, max_reserved_gib): für jeden Stream von FSDP einzeln, denn was einer freigegeben hat, nimmt kein anderer, und mit freien Blöcken, die für Späteres zu klein waren. Vorhergesagt ist, was der Allocator von PyTorch für die Puffer zweier Schritte belegt und für die, die FSDP daneben hat, ohne erweiterbare Segmente, die das Skript für mehrere Knoten nicht einstellt (multinode_trainer.slurm).</translation>
    </message>
    <message>
        <source>Without torch.compile selective checkpoints also keep what no backward reads, such as the results of the MLP&apos;s second product (parallelize_llama.py, _save_list), 4 GiB. The machine says so.</source>
        <translation>Ohne torch.compile behalten selektive Checkpoints auch, was kein Rückwärtslauf liest, etwa die Ergebnisse des zweiten Produkts der MLP (parallelize_llama.py, _save_list), 4 GiB. Die Maschine sagt das.</translation>
    </message>
    <message>
        <source>The peak is what PyTorch reserved (torchtitan, components/metrics.py, max_reserved_gib): for each stream of FSDP by itself, and with free blocks that were too small for what came. Predicted is what PyTorch&apos;s allocator reserves for the buffers of two steps and for those that FSDP has beside them, without expandable segments, which the published command does not set.</source>
        <translation>Der Höchststand ist, was PyTorch belegt hat (torchtitan, components/metrics.py, max_reserved_gib): für jeden Stream von FSDP einzeln und mit freien Blöcken, die für Späteres zu klein waren. Vorhergesagt ist, was der Allocator von PyTorch für die Puffer zweier Schritte belegt und für die, die FSDP daneben hat, ohne erweiterbare Segmente, die der veröffentlichte Befehl nicht einstellt.</translation>
    </message>
    <message>
        <source>The published flags --quantize.linear.float8.* do not exist at e7c0cae, the published commit. They first appear in 8a2686c4a (2025-09-30).</source>
        <translation>Die veröffentlichten Optionen --quantize.linear.float8.* gibt es in e7c0cae, dem veröffentlichten Commit, nicht. Sie kommen zuerst in 8a2686c4a vor (30. September 2025).</translation>
    </message>
    <message>
        <source>The loss is compiled (torchtitan e7c0cae, torchtitan/components/loss.py), which is said as a gradient beside the logits.</source>
        <translation>Der Verlust ist kompiliert (torchtitan e7c0cae, torchtitan/components/loss.py); als Einstellung ist das ein Gradient neben den Logits.</translation>
    </message>
    <message>
        <source>FP8 scaled by row is slower than FP8 scaled by tensor, which no setting tells apart.</source>
        <translation>FP8 mit einer Skala je Zeile ist langsamer als FP8 mit einer je Tensor, was keine Einstellung unterscheidet.</translation>
    </message>
    <message>
        <source>What is recomputed is not in the table; here nothing is.</source>
        <translation>Was neu berechnet wird, steht nicht in der Tabelle; hier nichts.</translation>
    </message>
    <message>
        <source>The multi-token prediction module, where there is one, is left out.</source>
        <translation>Das Modul zur Vorhersage mehrerer Token bleibt weg, wo es eines gibt.</translation>
    </message>
    <message>
        <source>How layers are cut where they do not divide by the stages is not in the table; here table and head count as a layer each where that divides, else the last stages have one less.</source>
        <translation>Wie Schichten verteilt sind, wo sie sich nicht durch die Stufen teilen lassen, steht nicht in der Tabelle; hier zählen Tabelle und Kopf als je eine Schicht, wo das aufgeht, sonst haben die letzten Stufen eine weniger.</translation>
    </message>
    <message>
        <source>Numbers in parentheses are of another granularity of FP8. The first is taken.</source>
        <translation>Zahlen in Klammern gelten für eine andere Körnung von FP8. Die erste ist genommen.</translation>
    </message>
    <message>
        <source>The table says 2 accumulations of GPT OSS on H100, where its batch and its PP 4 give 8; here 8.</source>
        <translation>Die Tabelle nennt 2 Akkumulationen für GPT OSS auf H100, wo Batch und PP 4 8 ergeben; hier 8.</translation>
    </message>
    <message>
        <source>No setting says products of NVFP4.</source>
        <translation>Keine Einstellung sagt Produkte in NVFP4.</translation>
    </message>
    <message>
        <source>Pre-training with Megatron-Bridge, container 26.04.01</source>
        <translation>Vortraining mit Megatron-Bridge, Container 26.04.01</translation>
    </message>
    <message>
        <source>The model has Mamba layers, which no Model has.</source>
        <translation>Das Modell hat Mamba-Schichten, die hier kein Modell hat.</translation>
    </message>
    <message>
        <source>GPT models of 1.7 billion to 1 trillion parameters on up to 3072 A100</source>
        <translation>GPT-Modelle von 1,7 Milliarden bis 1 Billion Parametern auf bis zu 3072 A100</translation>
    </message>
    <message>
        <source>The table gives TFLOP/s; the step follows from equation 3 of the paper.</source>
        <translation>Die Tabelle gibt TFLOP/s; der Schritt folgt aus Gleichung 3 des Aufsatzes.</translation>
    </message>
    <message>
        <source>Micro-batches and layers of a virtual stage are those of examples/sc21/run_table_1.sh of Megatron-LM.</source>
        <translation>Mikro-Batches und Schichten einer virtuellen Stufe sind die aus examples/sc21/run_table_1.sh von Megatron-LM.</translation>
    </message>
    <message>
        <source>The paper&apos;s scatter/gather transfers are left off, since the rates were fitted without them: with them, as predicted here, the mean error would be 4.2 % in place of 3.8 %.</source>
        <translation>Scatter/Gather der Arbeit ist aus, denn die Raten wurden ohne es angepasst: Mit ihm wäre der mittlere Fehler, wie hier vorhergesagt, 4,2 % statt 3,8 %.</translation>
    </message>
    <message>
        <source>The paper&apos;s scatter/gather transfers are left off, since the rates were fitted without them: with them the first four PTD rows change by at most 0.2 % of the step.</source>
        <translation>Scatter/Gather der Arbeit ist aus, denn die Raten wurden ohne es angepasst: Mit ihm ändern sich die ersten vier PTD-Zeilen um höchstens 0,2 % des Schritts.</translation>
    </message>
    <message>
        <source>The four smallest models used PyTorch&apos;s distributed data parallel, which reduces gradients during the backward; the others Megatron&apos;s own, which reduces them after it.</source>
        <translation>Die vier kleinsten Modelle benutzten PyTorchs Distributed Data Parallel, das Gradienten während der Rückwärtsrechnung reduziert; die anderen Megatrons eigenes, das sie danach reduziert.</translation>
    </message>
    <message>
        <source>Pipeline, tensor and data parallelism against ZeRO-3</source>
        <translation>Pipeline-, Tensor- und Datenparallelität gegen ZeRO-3</translation>
    </message>
    <message>
        <source>How DeepSpeed gathered parameters for ZeRO-3 (message sizes, prefetching) is not said. On 1536 and 2240 GPUs a rank sends 1.06 and 3.18 TB in a step that hardly computes, at 16 to 17 GB/s: what one of a node&apos;s eight network cards carries. So its rows assume one ring, fp16 gradients, and the next layer gathered ahead; they count as fitted.</source>
        <translation>Wie DeepSpeed Parameter für ZeRO-3 sammelte (Größe der Nachrichten, Vorauslesen), ist nicht gesagt. Auf 1536 und 2240 GPUs sendet ein Rang 1,06 und 3,18 TB in einem Schritt, der kaum rechnet, mit 16 bis 17 GB/s: was eine der acht Netzkarten eines Knotens trägt. Seine Zeilen nehmen darum einen Ring, fp16-Gradienten und eine im Voraus gesammelte Schicht an; sie zählen als angepasst.</translation>
    </message>
    <message>
        <source>Zero-bubble schedules of 1.5 to 28.3 billion parameters</source>
        <translation>Zero-Bubble-Pläne bei 1,5 bis 28,3 Milliarden Parametern</translation>
    </message>
    <message>
        <source>The table gives samples per GPU and second; a sample has 1024 tokens.</source>
        <translation>Die Tabelle gibt Beispiele je GPU und Sekunde; ein Beispiel hat 1024 Token.</translation>
    </message>
    <message>
        <source>Transfers between stages stop what computes under 1F1B and hide behind it in the other schedules, as in the Megatron-LM of that time.</source>
        <translation>Übertragungen zwischen Stufen halten bei 1F1B die Rechnung an und verbergen sich bei den anderen Plänen hinter ihr, wie im Megatron-LM jener Zeit.</translation>
    </message>
    <message>
        <source>GPT-2 124M on one H100, by this engine</source>
        <translation>GPT-2 124M auf einer H100, mit dieser Engine</translation>
    </message>
    <message>
        <source>A step is the median of those of a run, by the clock of the GPU.</source>
        <translation>Ein Schritt ist der Median der Schritte eines Laufs nach der Uhr der GPU.</translation>
    </message>
    <message>
        <source>No rate of the machine was fitted on these rows.</source>
        <translation>An diese Zeilen wurde keine Rate der Maschine angepasst.</translation>
    </message>
    <message>
        <source>Transfers inside a node take what table 9 of the same paper measured of them alone.</source>
        <translation>Übertragungen innerhalb eines Knotens dauern so lange, wie Tabelle 9 derselben Arbeit sie allein gemessen hat.</translation>
    </message>
    <message>
        <source>Interleaved stages hold one layer each, and the first and the last the embedding and the head alone.</source>
        <translation>Verschränkte Stufen halten je eine Schicht, die erste und die letzte nur Einbettung und Kopf.</translation>
    </message>
    <message>
        <source>Parameters and gradients are fp16 and dropout 0.1, as in the script of the authors&apos; repository (sail-sg/zero-bubble-pipeline-parallelism, tag zero-bubble-v0.1.0, examples/pretrain_zero_bubble.sh).</source>
        <translation>Parameter und Gradienten sind fp16 und Dropout 0,1, wie im Skript des Repositoriums der Autoren (sail-sg/zero-bubble-pipeline-parallelism, Tag zero-bubble-v0.1.0, examples/pretrain_zero_bubble.sh).</translation>
    </message>
    <message>
        <source>The vocabulary is not said; with 32000 the models have the 14.6 and 28.3 billion parameters of their names.</source>
        <translation>Das Vokabular ist nicht genannt; mit 32000 haben die Modelle die 14,6 und 28,3 Milliarden Parameter ihrer Namen.</translation>
    </message>
    <message>
        <source>Shortened Llama 3 and DeepSeek models on 8 B200</source>
        <translation>Gekürzte Modelle Llama 3 und DeepSeek auf 8 B200</translation>
    </message>
    <message>
        <source>Sequences are 4096 tokens where the name says nothing.</source>
        <translation>Sequenzen haben 4096 Token, wo der Name nichts sagt.</translation>
    </message>
    <message>
        <source>Context parallelism exchanges heads (all-to-all), as the section on CP says.</source>
        <translation>Kontextparallelität tauscht Köpfe aus (All-to-all), wie der Abschnitt über CP sagt.</translation>
    </message>
    <message>
        <source>Llama 3 405B has 16 heads of keys and values there (configs/models/llama3-405b_padding_128.json).</source>
        <translation>Llama 3 405B hat dort 16 Köpfe für Schlüssel und Werte (configs/models/llama3-405b_padding_128.json).</translation>
    </message>
    <message>
        <source>Experts are chosen by softmax in as many groups as EP has ranks, of which a token may use three, as the launch script of SimuMax says (run_pretrain_deepseekv2.sh).</source>
        <translation>Experten werden durch Softmax in so vielen Gruppen gewählt, wie EP Ränge hat; ein Token darf drei davon nutzen, wie das Startskript von SimuMax sagt (run_pretrain_deepseekv2.sh).</translation>
    </message>
    <message>
        <source>Router&apos;s weights multiply what stands between an expert&apos;s products, as Megatron-LM does at the commit of those runs (23e00ed, experts.py).</source>
        <translation>Router-Gewichte multiplizieren, was zwischen den Produkten eines Experten steht, wie Megatron-LM es zum Stand dieser Läufe tut (23e00ed, experts.py).</translation>
    </message>
    <message>
        <source>Solar Open 100B on 480 B200</source>
        <translation>Solar Open 100B auf 480 B200</translation>
    </message>
    <message>
        <source>TPS are tokens per GPU and second; the table sums up steps of tuning one after the other, and its gains do not multiply to its TPS.</source>
        <translation>TPS sind Token je GPU und Sekunde; die Tabelle summiert Verbesserungen nacheinander auf, und ihre Gewinne ergeben multipliziert nicht ihre TPS.</translation>
    </message>
    <message>
        <source>HSDP shards over 10 nodes, six replicas (section 3.3).</source>
        <translation>HSDP teilt über 10 Knoten auf, sechs Repliken (Abschnitt 3.3).</translation>
    </message>
    <message>
        <source>A change of kernels or types, which no setting says.</source>
        <translation>Eine Änderung von Kerneln oder Typen, die keine Einstellung sagt.</translation>
    </message>
    <message>
        <source>Sequence, micro-batch, expert parallelism and recompute of these runs are not published.</source>
        <translation>Sequenz, Mikro-Batch, Expertenparallelität und Neuberechnung dieser Läufe sind nicht veröffentlicht.</translation>
    </message>
    <message>
        <source>Llama 3.1 8B, FSDP on 8 H100</source>
        <translation>Llama 3.1 8B, FSDP auf 8 H100</translation>
    </message>
    <message>
        <source>The GPUs are H100 with 96 GB of HBM2e at 2.4 TB/s and 500 W; what they reach at that power is not said, and those of the DGX H100 stand for it.</source>
        <translation>Die GPUs sind H100 mit 96 GB HBM2e bei 2,4 TB/s und 500 W; was sie bei dieser Leistung erreichen, ist nicht gesagt, und die Raten der DGX H100 stehen dafür.</translation>
    </message>
    <message>
        <source>Llama 3.1 8B, FSDP and context parallelism on 8 H100</source>
        <translation>Llama 3.1 8B, FSDP und Kontextparallelität auf 8 H100</translation>
    </message>
    <message>
        <source>Llama 3.1 8B, FSDP on 128 H100</source>
        <translation>Llama 3.1 8B, FSDP auf 128 H100</translation>
    </message>
    <message>
        <source>Llama 3.1 70B, FSDP and TP on 256 H100</source>
        <translation>Llama 3.1 70B, FSDP und TP auf 256 H100</translation>
    </message>
    <message>
        <source>Llama 3.1 405B, FSDP, TP and PP on 512 H100</source>
        <translation>Llama 3.1 405B, FSDP, TP und PP auf 512 H100</translation>
    </message>
    <message>
        <source>Llama 3.1 405B, FSDP, TP, PP and CP on 512 H100</source>
        <translation>Llama 3.1 405B, FSDP, TP, PP und CP auf 512 H100</translation>
    </message>
    <message>
        <source>Llama 3 with plain and asynchronous TP</source>
        <translation>Llama 3 mit einfachem und asynchronem TP</translation>
    </message>
    <message>
        <source>How many layers FSDP gathers ahead is not said; here one.</source>
        <translation>Wie viele Schichten FSDP vorab sammelt, ist nicht gesagt; hier eine.</translation>
    </message>
    <message>
        <source>How CP exchanges keys and values is not said; here by all-gather, torchtitan's default (context_parallel_rotate_method).</source>
        <translation>Wie CP Schlüssel und Werte austauscht, wird nicht angegeben; hier durch All-Gather, torchtitans Voreinstellung (context_parallel_rotate_method).</translation>
    </message>
    <message>
        <source>Llama 3.1 8B on 32 and 64 H200</source>
        <translation>Llama 3.1 8B auf 32 und 64 H200</translation>
    </message>
    <message>
        <source>The figures are those of one step, the hundredth.</source>
        <translation>Die Werte sind die eines Schritts, des hundertsten.</translation>
    </message>
    <message>
        <source>Optimizer states: fp32, sharded (distributed optimizer). Gradients: 16 bit, as the recipes of the same repository set grad_reduce_in_fp32 = False (tag v0.2.0, scripts/performance/configs); reduced during the backward. Parameters are gathered during the next forward, as the recipes and their CommOverlapConfig do (overlap_param_gather), but in MXFP8 DeepSeek-V3 on GB300 and GB200, and Qwen3 235B on B200, where the recipes turn it off.</source>
        <translation>Optimiererzustände: fp32, aufgeteilt (distributed optimizer). Gradienten: 16 Bit, wie die Rezepte desselben Repositorys grad_reduce_in_fp32 = False setzen (Tag v0.2.0, scripts/performance/configs); reduziert während des Rückwärtslaufs. Parameter werden während des nächsten Vorwärtslaufs gesammelt, wie es die Rezepte und ihre CommOverlapConfig tun (overlap_param_gather), außer in MXFP8 bei DeepSeek-V3 auf GB300 und GB200 und bei Qwen3 235B auf B200, wo die Rezepte es abschalten.</translation>
    </message>
    <message>
        <source>Optimizer states: fp32, sharded (distributed optimizer). Gradients: 16 bit, as the recipes of the same repository set grad_reduce_in_fp32 = False (src/megatron/bridge/perf_recipes); reduced during the backward. Parameters are gathered during the next forward, as the recipes and their CommOverlapConfig do (overlap_param_gather).</source>
        <translation>Optimiererzustände: fp32, aufgeteilt (distributed optimizer). Gradienten: 16 Bit, wie die Rezepte desselben Repositorys grad_reduce_in_fp32 = False setzen (src/megatron/bridge/perf_recipes); reduziert während des Rückwärtslaufs. Parameter werden während des nächsten Vorwärtslaufs gesammelt, wie es die Rezepte und ihre CommOverlapConfig tun (overlap_param_gather).</translation>
    </message>
    <message>
        <source>A backward of ZeRO-3 waits until the gradients that it made last are reduced: DeepSpeed of March 2021 waited for all of the device&apos;s streams before it gathered the next module (0.3.14, deepspeed/runtime/zero/stage3.py, _synchronize_communication, and partition_parameters.py, _allgather_param).</source>
        <translation>Ein Rückwärtslauf von ZeRO-3 wartet, bis die zuletzt gemachten Gradienten reduziert sind: DeepSpeed vom März 2021 wartete auf alle Streams des Geräts, bevor es das nächste Modul einsammelte (0.3.14, deepspeed/runtime/zero/stage3.py, _synchronize_communication, und partition_parameters.py, _allgather_param).</translation>
    </message>
    <message>
        <source>Pre-training with Megatron-Bridge, container 25.09</source>
        <translation>Vortraining mit Megatron-Bridge, Container 25.09</translation>
    </message>
    <message>
        <source>Optimizer states: fp32, sharded (distributed optimizer). Gradients: 16 bit, as the recipes of the same repository set grad_reduce_in_fp32: false (tag v0.1.0rc3, scripts/performance/configs); reduced during the backward. Parameters are gathered during the next forward, as the recipes and their CommOverlapConfig do (overlap_param_gather).</source>
        <translation>Optimizerzustände: fp32, aufgeteilt (verteilter Optimizer). Gradienten: 16 Bit, da die Rezepte desselben Repositorys grad_reduce_in_fp32: false setzen (Tag v0.1.0rc3, scripts/performance/configs); reduziert während des Rückwärtslaufs. Parameter werden während des nächsten Vorwärtslaufs gesammelt, wie es die Rezepte und ihre CommOverlapConfig tun (overlap_param_gather).</translation>
    </message>
    <message>
        <source>Products are FP8, as the second numbers of the table, in parentheses, are of MXFP8 and other mappings. The first are taken.</source>
        <translation>Produkte sind FP8; die zweiten Zahlen der Tabelle, in Klammern, gelten für MXFP8 und andere Aufteilungen. Genommen sind die ersten.</translation>
    </message>
    <message>
        <source>Where tokens are dropped, the capacity factor is 1 and experts are padded to it (tag v0.1.0rc3, training/utils/moe_token_drop.py): each expert has as many rows as even routing gives it, as here.</source>
        <translation>Wo Token fallen gelassen werden, ist der Kapazitätsfaktor 1, und Experten werden darauf aufgefüllt (Tag v0.1.0rc3, training/utils/moe_token_drop.py): Jeder Experte hat so viele Zeilen, wie gleichmäßiges Routing ihm gibt, wie hier.</translation>
    </message>
    <message>
        <source>What is recomputed is not in the table. It stands in the recipes (tag v0.1.0rc3, scripts/performance): the up-projection and the activation of experts of DeepSeek-V3 on GB200, and nothing in the other rows here; that of the MLPs of DeepSeek-V3&apos;s dense layers on GB200 is left out.</source>
        <translation>Was neu berechnet wird, steht nicht in der Tabelle. Es steht in den Rezepten (Tag v0.1.0rc3, scripts/performance): die Aufwärtsprojektion und die Aktivierung der Experten von DeepSeek-V3 auf GB200 und in den anderen Zeilen hier nichts; die Neuberechnung der MLPs in den dichten Schichten von DeepSeek-V3 auf GB200 ist weggelassen.</translation>
    </message>
    <message>
        <source>The multi-token prediction module of DeepSeek-V3 is left out.</source>
        <translation>Das Modul von DeepSeek-V3, das mehrere Token vorhersagt, bleibt weg.</translation>
    </message>
    <message>
        <source>Activations that FSDP&apos;s recipes move to the host&apos;s memory (cpu_offloading_num_layers) stay on the GPU here.</source>
        <translation>Aktivierungen, die die Rezepte für FSDP in den Speicher des Hosts bringen (cpu_offloading_num_layers), bleiben hier auf der GPU.</translation>
    </message>
    <message>
        <source>How layers are cut where they do not divide by the stages is not in the table; here as in the rows of container 25.11.</source>
        <translation>Wie Schichten geteilt werden, wo sie nicht in den Stufen aufgehen, steht nicht in der Tabelle; hier wie in den Zeilen des Containers 25.11.</translation>
    </message>
    <message>
        <source>Experts of B200 and H100 get their tokens by NCCL&apos;s all-to-all, whose hosts wait for the counts, and most kernels are launched one by one (no moe_flex_dispatcher_backend in the recipes, few or no CUDA graphs); those of GB200 and GB300 but GPT OSS&apos;s by HybridEP. What hosts take is not predicted: with the same mapping and a fixed number of tokens for each expert, the table of the container before (25.09) has 18,066 tokens/s of Qwen3 30B on B200 and 10,494 on H100. Container 26.02 has 9,691 and 5,113 still; 26.02.01, whose recipes take DeepEP or HybridEP for Qwen3 on B200 and H100, too (commit 5c38201c9), has 26,695 and 9,058.</source>
        <translation>Experten auf B200 und H100 bekommen ihre Token durch das All-to-All von NCCL, dessen Hosts auf die Anzahlen warten, und die meisten Kernel werden einzeln gestartet (kein moe_flex_dispatcher_backend in den Rezepten, wenige oder keine CUDA-Graphen); die auf GB200 und GB300, außer denen von GPT OSS, durch HybridEP. Was Hosts brauchen, wird nicht vorhergesagt: Mit derselben Aufteilung und fester Zahl von Token je Experte hat die Tabelle des Containers davor (25.09) 18.066 Token/s von Qwen3 30B auf B200 und 10.494 auf H100. Container 26.02 hat noch 9.691 und 5.113; 26.02.01, dessen Rezepte für Qwen3 auch auf B200 und H100 DeepEP oder HybridEP nehmen (Commit 5c38201c9), hat 26.695 und 9.058.</translation>
    </message>
    <message>
        <source>The GPUs are H100 with 96 GB of HBM2e at 2.4 TB/s and 500 W; what they and their links sustain is fitted on three rows in BF16: FSDP, compiled, on 8 GPUs (Table 1 of 2024), and 70B with plain and with asynchronous TP (2025).</source>
        <translation>Die GPUs sind H100 mit 96 GB HBM2e bei 2,4 TB/s und 500 W; was sie und ihre Verbindungen dauerhaft leisten, ist an drei Zeilen in BF16 angepasst: FSDP, kompiliert, auf 8 GPUs (Tabelle 1 von 2024) und 70B mit gewöhnlichem und mit asynchronem TP (2025).</translation>
    </message>
    <message>
        <source>Without torch.compile norms and activations run op by op, at shares of the bandwidth that follow from the bytes of each op, and norms hold copies in fp32 meanwhile; rotations are here as compiled.</source>
        <translation>Ohne torch.compile laufen Normen und Aktivierungen Operation für Operation, mit Anteilen der Bandbreite, die aus den Bytes jeder Operation folgen, und Normen halten währenddessen Kopien in fp32; Rotationen sind hier wie kompiliert.</translation>
    </message>
    <message>
        <source>How CP exchanges keys and values is not said; here by all-gather, torchtitan&apos;s default (context_parallel_rotate_method). torchtitan 9dec370 repeats keys and values for every query head before that (model.py, repeat_kv). That counts in what is reserved, not in times.</source>
        <translation>Wie CP Schlüssel und Werte austauscht, wird nicht angegeben; hier durch All-Gather, die Voreinstellung von torchtitan (context_parallel_rotate_method). torchtitan 9dec370 wiederholt davor Schlüssel und Werte für jeden Kopf der Anfragen (model.py, repeat_kv). Das zählt im belegten Speicher, nicht in den Zeiten.</translation>
    </message>
    <message>
        <source>How layers are cut, micro-batches and chunks are not said; here as torchtitan 9dec370 takes them where nobody says (pipelining_utils.py, generate_split_points and build_pipeline_schedule).</source>
        <translation>Wie Schichten geteilt werden, Mikro-Batches und Stücke werden nicht angegeben; hier so, wie torchtitan 9dec370 sie nimmt, wo niemand etwas sagt (pipelining_utils.py, generate_split_points und build_pipeline_schedule).</translation>
    </message>
    <message>
        <source>FSDP gathers parameters once a step, beside its first forwards, and reduces accumulated gradients behind the last backward of a stage (PyTorch, torch/distributed/pipelining/stage.py, backward_maybe_with_nosync), which is said as ZeRO 2 that accumulates.</source>
        <translation>FSDP sammelt Parameter einmal je Schritt, neben seinen ersten Vorwärtsläufen, und reduziert angesammelte Gradienten hinter dem letzten Rückwärtslauf einer Stufe (PyTorch, torch/distributed/pipelining/stage.py, backward_maybe_with_nosync); hier ausgedrückt als ZeRO 2 mit Ansammeln.</translation>
    </message>
    <message>
        <source>Attention is FlashAttention-2, as torchtitan e7c0cae asks of PyTorch (torchtitan/models/attention.py), at the rates that an H100 has with it.</source>
        <translation>Die Attention ist FlashAttention-2, die torchtitan e7c0cae von PyTorch verlangt (torchtitan/models/attention.py), mit den Raten, die eine H100 damit hat.</translation>
    </message>
    <message>
        <source>It ran on GPUs of 80 GB without activation checkpointing (section 3.3.2). What its kernels keep for the backward is not said: with all inputs of all ops it would need 82 to 89 GiB of 74.5. Here norms and the activation are computed again from their inputs, as fused kernels do, for 0.1 points of the MFU.</source>
        <translation>Es lief auf GPUs mit 80 GB ohne Activation Checkpointing (Abschnitt 3.3.2). Was seine Kernels für den Rückwärtslauf behalten, steht nicht da: Mit allen Eingaben aller Ops brauchte es 82 bis 89 GiB von 74,5. Hier werden Norms und die Aktivierung aus ihren Eingaben neu berechnet, wie es verschmolzene Kernels tun, für 0,1 Punkte der MFU.</translation>
    </message>
    <message>
        <source>A GB is 10^9 bytes, as the authors&apos; code counts memory (zb_schedules.py). Memory is given in whole GB, so that half a GB may be rounding: ZB-2p of 1.5 billion parameters, predicted 3.9 % low, is 3.1 % below the least that rounds to its 59 GB.</source>
        <translation>Ein GB sind 10^9 Bytes, wie der Code der Autoren Speicher zählt (zb_schedules.py). Speicher ist in ganzen GB angegeben, sodass ein halbes GB gerundet sein kann: ZB-2p mit 1,5 Milliarden Parametern, 3,9 % zu niedrig vorhergesagt, liegt 3,1 % unter dem Kleinsten, was auf seine 59 GB gerundet wird.</translation>
    </message>
    <message>
        <source>TP copies what it gathers and scatters along the tokens of several sequences (torch/distributed/_functional_collectives.py, all_gather_tensor and reduce_scatter_tensor); asynchronous TP does so outside compiled products alone, and has the parts of its rings in symmetric memory, which the allocator does not count. With FP8 products TP gathers in FP8 (torchtitan 9dec370, docs/float8.md). These copies come where the loss, which sets the peak, has left room for them, so 6.4 GiB of what plain TP has reserved are unexplained, and 1.6 GiB of asynchronous TP.</source>
        <translation>TP kopiert, was es entlang der Tokens mehrerer Sequenzen einsammelt und verteilt (torch/distributed/_functional_collectives.py, all_gather_tensor und reduce_scatter_tensor); asynchrones TP tut das nur außerhalb kompilierter Produkte und hat die Teile seiner Ringe in symmetrischem Speicher, den der Allocator nicht zählt. Mit FP8-Produkten sammelt TP in FP8 ein (torchtitan 9dec370, docs/float8.md). Diese Kopien kommen dort, wo der Loss, der den Höchststand bestimmt, Platz für sie gelassen hat; deshalb sind 6,4 GiB dessen, was gewöhnliches TP belegt hat, unerklärt, und 1,6 GiB bei asynchronem TP.</translation>
    </message>
    <message>
        <source>Two rows of equal bytes, 1F1B with 8,192 and with 32,768 tokens a sequence, are published with 82.5 and 75.3 GiB (Tables 5 and 6), so a tenth of what is reserved does not follow from bytes, and 7.1 GiB of the first are unexplained. In PyTorch what a stage sends, what it receives and both their gradients wait for the end of the step, for every micro-batch, and so do all logits of the last stage (torch/distributed/pipelining/stage.py, output_chunks, args_recv_info, grad_recv_info, clear_runtime_states), which it then joins (schedules.py, _merge_outputs). A chunk&apos;s gradients and parameters are freed behind its own last backward (backward_maybe_with_nosync).</source>
        <translation>Zwei Zeilen mit gleich vielen Bytes, 1F1B mit 8.192 und mit 32.768 Tokens je Sequenz, sind mit 82,5 und 75,3 GiB veröffentlicht (Tabellen 5 und 6); ein Zehntel des belegten Speichers folgt also nicht aus Bytes, und 7,1 GiB der ersten sind unerklärt. In PyTorch wartet, was eine Stufe sendet, was sie empfängt und von beidem der Gradient, für jeden Micro-Batch auf das Ende des Schritts, und so auch alle Logits der letzten Stufe (torch/distributed/pipelining/stage.py, output_chunks, args_recv_info, grad_recv_info, clear_runtime_states), die sie dann verbindet (schedules.py, _merge_outputs). Gradienten und Parameter eines Chunks werden nach dessen letztem Rückwärtslauf frei (backward_maybe_with_nosync).</translation>
    </message>
    <message>
        <source>Two rows of equal bytes, 1F1B with 8,192 and with 32,768 tokens a sequence, are published with 82.5 and 75.3 GiB (Tables 5 and 6), so a tenth of what is reserved does not follow from bytes, and 7.1 GiB of the first are unexplained. CP 8 is published with 9.6 GiB more than CP 1. What it gathers for attention explains 0.7 GiB of them, and the rest is unexplained. In PyTorch what a stage sends, what it receives and both their gradients wait for the end of the step, for every micro-batch, and so do all logits of the last stage (torch/distributed/pipelining/stage.py, output_chunks, args_recv_info, grad_recv_info, clear_runtime_states), which it then joins (schedules.py, _merge_outputs). A chunk&apos;s gradients and parameters are freed behind its own last backward (backward_maybe_with_nosync).</source>
        <translation>Zwei Zeilen mit gleich vielen Bytes, 1F1B mit 8.192 und mit 32.768 Tokens je Sequenz, sind mit 82,5 und 75,3 GiB veröffentlicht (Tabellen 5 und 6); ein Zehntel des belegten Speichers folgt also nicht aus Bytes, und 7,1 GiB der ersten sind unerklärt. CP 8 ist mit 9,6 GiB mehr als CP 1 veröffentlicht. Was es für die Attention einsammelt, erklärt davon 0,7 GiB, der Rest ist unerklärt. In PyTorch wartet, was eine Stufe sendet, was sie empfängt und von beidem der Gradient, für jeden Micro-Batch auf das Ende des Schritts, und so auch alle Logits der letzten Stufe (torch/distributed/pipelining/stage.py, output_chunks, args_recv_info, grad_recv_info, clear_runtime_states), die sie dann verbindet (schedules.py, _merge_outputs). Gradienten und Parameter eines Chunks werden nach dessen letztem Rückwärtslauf frei (backward_maybe_with_nosync).</translation>
    </message>
    <message>
        <source>TP copies tokens beside collectives that no compiled product meets, and gathers in FP8 (Table 4 of the same page). Whether FSDP gathered weights in FP8, as train_configs/llama3_405b.toml of torchtitan 9dec370 would (enable_fsdp_float8_all_gather), is not said; here in 16 bit.</source>
        <translation>TP kopiert Tokens neben Kollektiven, an die kein kompiliertes Produkt grenzt, und sammelt in FP8 ein (Tabelle 4 derselben Seite). Ob FSDP Gewichte in FP8 eingesammelt hat, wie es train_configs/llama3_405b.toml von torchtitan 9dec370 täte (enable_fsdp_float8_all_gather), steht nicht da; hier in 16 Bit.</translation>
    </message>
    <message>
        <source>How layers are cut, micro-batches and chunks are not said; here as torchtitan 9dec370 takes them where nobody says (pipelining_utils.py, generate_split_points and build_pipeline_schedule). With 1F1B a second stage of 18 layers in place of 16 would reserve 82.7 GiB, as published.</source>
        <translation>Wie Schichten geteilt werden, Mikro-Batches und Stücke werden nicht angegeben; hier so, wie torchtitan 9dec370 sie nimmt, wo niemand etwas sagt (pipelining_utils.py, generate_split_points und build_pipeline_schedule). Mit 1F1B würde eine zweite Stufe von 18 statt 16 Schichten 82,7 GiB belegen, wie veröffentlicht.</translation>
    </message>
</context>
<context>
    <name>quantities</name>
    <message>
        <source>Exposed communication</source>
        <translation>Unverdeckte Kommunikation</translation>
    </message>
    <message>
        <source>of the busiest rank, where no computing hides it</source>
        <translation>des am längsten rechnenden Rangs, wo kein Rechnen sie verdeckt</translation>
    </message>
    <message>
        <source>by the skew</source>
        <translation>nach der Schiefe</translation>
    </message>
    <message>
        <source>not counted yet</source>
        <translation>noch nicht gezählt</translation>
    </message>
    <message>
        <source>Layer time, forward</source>
        <translation>Schichtdauer, vorwärts</translation>
    </message>
    <message>
        <source>Fullest rank / mean</source>
        <translation>Vollster Rang / Mittel</translation>
    </message>
    <message>
        <source>Dispatched, one way</source>
        <translation>Dispatch, eine Richtung</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>Verworfen</translation>
    </message>
    <message>
        <source>not computed yet</source>
        <translation>noch nicht berechnet</translation>
    </message>
    <message>
        <source>no experts</source>
        <translation>keine Experten</translation>
    </message>
    <message>
        <source>%1 of %2 choices</source>
        <translation>%1 von %2 Zuordnungen</translation>
    </message>
    <message>
        <source>run, step %1</source>
        <translation>Lauf, Schritt %1</translation>
    </message>
    <message>
        <source>counted in the run</source>
        <translation>im Lauf gezählt</translation>
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
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <source>Sent per rank</source>
        <translation>Gesendet je Rang</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>algorithm bandwidth %1</source>
        <translation>Algorithmusbandbreite %1</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>exakt</translation>
    </message>
    <message>
        <source>proven on sets of contributions, for every input</source>
        <translation>an Mengen von Beiträgen bewiesen, für jede Eingabe</translation>
    </message>
    <message>
        <source>median of %1 repeats; shortest %2, longest %3</source>
        <translation>Median von %1 Wiederholungen; kürzeste %2, längste %3</translation>
    </message>
    <message>
        <source>wrong</source>
        <translation>falsch</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>geprüft</translation>
    </message>
    <message>
        <source>every cell of every rank was compared</source>
        <translation>jede Zelle jedes Rangs wurde verglichen</translation>
    </message>
    <message>
        <source>1 cell</source>
        <translation>1 Zelle</translation>
    </message>
    <message>
        <source>%1 cells</source>
        <translation>%1 Zellen</translation>
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
        <source>Loss, last step</source>
        <translation>Verlust, letzter Schritt</translation>
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
        <source>one rank, fp32</source>
        <translation>ein Rang, fp32</translation>
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
        <source>late</source>
        <translation>verspätet</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
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
        <source>partly by formula</source>
        <translation>teils nach Formel</translation>
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
        <translation>nicht gültig</translation>
    </message>
    <message>
        <source>hidden for now</source>
        <translation>vorerst verborgen</translation>
    </message>
    <message>
        <source>Bytes per parameter</source>
        <translation>Bytes je Parameter</translation>
    </message>
    <message>
        <source>parameters, gradients and optimizer of this rank at their peaks; the formula gives %1 = %2</source>
        <translation>Parameter, Gradienten und Optimierer dieses Rangs an ihren Spitzen; die Formel gibt %1 = %2</translation>
    </message>
    <message>
        <source>Sent along %1</source>
        <translation>Gesendet entlang %1</translation>
    </message>
    <message>
        <source>Loss so far</source>
        <translation>Verlust bisher</translation>
    </message>
    <message>
        <source>the run is under way; its first step had %1</source>
        <translation>der Lauf ist im Gange; sein erster Schritt hatte %1</translation>
    </message>
    <message>
        <source>%1, set</source>
        <translation>%1, gesetzt</translation>
    </message>
    <message>
        <source>%1, %2 %3</source>
        <translation>%1, %2 %3</translation>
    </message>
    <message>
        <source>whole stages only</source>
        <translation>nur ganze Stufen</translation>
    </message>
    <message>
        <source>run by an older version</source>
        <translation>Lauf einer älteren Version</translation>
    </message>
    <message>
        <source>Layer time, backward</source>
        <translation>Schichtdauer, rückwärts</translation>
    </message>
    <message>
        <source>Kept per rank</source>
        <translation>Behalten je Rang</translation>
    </message>
    <message>
        <source>Embedding, forward</source>
        <translation>Embedding, vorwärts</translation>
    </message>
    <message>
        <source>Embedding, backward</source>
        <translation>Embedding, rückwärts</translation>
    </message>
    <message>
        <source>Head, loss, forward</source>
        <translation>Kopf, Verlust, vorwärts</translation>
    </message>
    <message>
        <source>Head, loss, backward</source>
        <translation>Kopf, Verlust, rückwärts</translation>
    </message>
    <message>
        <source>Sent per rank, forward</source>
        <translation>Gesendet, vorwärts</translation>
    </message>
    <message>
        <source>Sent per rank, backward</source>
        <translation>Gesendet, rückwärts</translation>
    </message>
    <message>
        <source>FLOP per second, forward</source>
        <translation>FLOP je Sekunde, vorwärts</translation>
    </message>
    <message>
        <source>FLOP per second, backward</source>
        <translation>FLOP je Sekunde, rückwärts</translation>
    </message>
    <message>
        <source>chosen in this view</source>
        <translation>in dieser Ansicht gewählt</translation>
    </message>
    <message>
        <source>the fullest of all</source>
        <translation>der vollste von allen</translation>
    </message>
    <message>
        <source>sends most of all</source>
        <translation>sendet am meisten von allen</translation>
    </message>
    <message>
        <source>Sent along %1, %2</source>
        <translation>Gesendet über %1, %2</translation>
    </message>
    <message>
        <source>idle over ideal time: %1</source>
        <translation>Leerlauf über idealer Zeit: %1</translation>
    </message>
    <message>
        <source>set</source>
        <translation>gesetzt</translation>
    </message>
    <message>
        <source>Assumed: the skew&apos;s share of the tokens goes to expert 0, the others evenly to all.</source>
        <translation>Angenommen: Der Anteil der Schiefe geht an Experte 0, die anderen Token gleichmäßig an alle.</translation>
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
        <source>idle before</source>
        <translation>davor untätig</translation>
    </message>
    <message>
        <source>idle %1:</source>
        <translation>%1 untätig:</translation>
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
        <source>waited %1 for</source>
        <translation>wartete %1 auf</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>even</source>
        <translation>gleichmäßig</translation>
    </message>
    <message>
        <source>GPUs (all, or 0,2)</source>
        <translation>GPUs (all oder 0,2)</translation>
    </message>
    <message>
        <source>Least stretch</source>
        <translation>Mindestdehnung</translation>
    </message>
    <message>
        <source>Slow rank</source>
        <translation>Langsamer Rang</translation>
    </message>
    <message>
        <source>Slow rank&apos;s factor</source>
        <translation>Langsamer Rang: Faktor</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Hidden</source>
        <translation>Breite</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>Köpfe</translation>
    </message>
    <message>
        <source>Key/value heads</source>
        <translation>Schlüssel/Wert-Köpfe</translation>
    </message>
    <message>
        <source>Width of a head</source>
        <translation>Breite eines Kopfes</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>GELU: two matrices</source>
        <translation>GELU: zwei Matrizen</translation>
    </message>
    <message>
        <source>SwiGLU: three matrices</source>
        <translation>SwiGLU: drei Matrizen</translation>
    </message>
    <message>
        <source>Norm</source>
        <translation>Norm</translation>
    </message>
    <message>
        <source>LayerNorm: gain and bias</source>
        <translation>LayerNorm: Verstärkung und Bias</translation>
    </message>
    <message>
        <source>RMSNorm: gain alone</source>
        <translation>RMSNorm: nur Verstärkung</translation>
    </message>
    <message>
        <source>Inner width</source>
        <translation>Innere Breite</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>Vokabular</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <source>Tied</source>
        <translation>Gebunden</translation>
    </message>
    <message>
        <source>Biases</source>
        <translation>Bias-Werte</translation>
    </message>
    <message>
        <source>Learned positions</source>
        <translation>Gelernte Positionen</translation>
    </message>
    <message>
        <source>Published split</source>
        <translation>Veröffentlichte Teilung</translation>
    </message>
    <message>
        <source>Experts of a layer</source>
        <translation>Experten einer Schicht</translation>
    </message>
    <message>
        <source>Experts a token visits (top-k)</source>
        <translation>Besuchte Experten je Token (Top-k)</translation>
    </message>
    <message>
        <source>Shared, visited by all</source>
        <translation>Geteilte, von allen besucht</translation>
    </message>
    <message>
        <source>Inner width of an expert</source>
        <translation>Innere Breite eines Experten</translation>
    </message>
    <message>
        <source>First layers without</source>
        <translation>Erste Schichten ohne</translation>
    </message>
    <message>
        <source>Capacity factor (0: dropless)</source>
        <translation>Kapazitätsfaktor (0: dropless)</translation>
    </message>
    <message>
        <source>Router</source>
        <translation>Router</translation>
    </message>
    <message>
        <source>Groups of experts (0: none)</source>
        <translation>Expertengruppen (0: keine)</translation>
    </message>
    <message>
        <source>Groups a token may use</source>
        <translation>Erlaubte Gruppen je Token</translation>
    </message>
    <message>
        <source>needs experts</source>
        <translation>braucht Experten</translation>
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
        <source>Nodes (0: as needed)</source>
        <translation>Knoten (0: nach Bedarf)</translation>
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
        <source>Experts cut by TP</source>
        <translation>Experten durch TP geteilt</translation>
    </message>
    <message>
        <source>ETP = TP: a part of each expert</source>
        <translation>ETP = TP: ein Teil jedes Experten</translation>
    </message>
    <message>
        <source>ETP 1: whole experts</source>
        <translation>ETP 1: ganze Experten</translation>
    </message>
    <message>
        <source>Rank order</source>
        <translation>Reihenfolge der Ränge</translation>
    </message>
    <message>
        <source>needs TP above 1</source>
        <translation>braucht TP über 1</translation>
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
        <source>needs sequence parallelism</source>
        <translation>braucht Sequenzparallelität</translation>
    </message>
    <message>
        <source>SP gathers again</source>
        <translation>SP sammelt erneut</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>0</source>
        <translation>0</translation>
    </message>
    <message>
        <source>nothing is shared out</source>
        <translation>nichts ist aufgeteilt</translation>
    </message>
    <message>
        <source>1</source>
        <translation>1</translation>
    </message>
    <message>
        <source>optimizer state is shared out</source>
        <translation>der Optimiererzustand ist aufgeteilt</translation>
    </message>
    <message>
        <source>2</source>
        <translation>2</translation>
    </message>
    <message>
        <source>optimizer state and gradients are shared out</source>
        <translation>Optimiererzustand und Gradienten sind aufgeteilt</translation>
    </message>
    <message>
        <source>3</source>
        <translation>3</translation>
    </message>
    <message>
        <source>optimizer state, gradients and parameters are shared out</source>
        <translation>Optimiererzustand, Gradienten und Parameter sind aufgeteilt</translation>
    </message>
    <message>
        <source>ZeRO group (0: all of DP)</source>
        <translation>ZeRO-Gruppe (0: ganzes DP)</translation>
    </message>
    <message>
        <source>ZeRO 3 prefetch, layers</source>
        <translation>ZeRO 3: Schichten voraus</translation>
    </message>
    <message>
        <source>Overlap gradients</source>
        <translation>Gradienten überlappen</translation>
    </message>
    <message>
        <source>Overlap parameters</source>
        <translation>Parameter überlappen</translation>
    </message>
    <message>
        <source>ZeRO 3 reshards</source>
        <translation>ZeRO 3 gibt zurück</translation>
    </message>
    <message>
        <source>needs ZeRO 3</source>
        <translation>braucht ZeRO 3</translation>
    </message>
    <message>
        <source>Gradient reduction</source>
        <translation>Gradientensumme</translation>
    </message>
    <message>
        <source>same: as they are held</source>
        <translation>gleich: wie gespeichert</translation>
    </message>
    <message>
        <source>fp32: widened for it</source>
        <translation>fp32: dafür erweitert</translation>
    </message>
    <message>
        <source>needs 16-bit gradients</source>
        <translation>braucht 16-Bit-Gradienten</translation>
    </message>
    <message>
        <source>Overlap tensor</source>
        <translation>Tensor überlappen</translation>
    </message>
    <message>
        <source>Ring of TP products</source>
        <translation>Ring der TP-Produkte</translation>
    </message>
    <message>
        <source>Dispatch</source>
        <translation>Verteilung</translation>
    </message>
    <message>
        <source>once for each of its experts</source>
        <translation>einmal für jeden seiner Experten</translation>
    </message>
    <message>
        <source>once for each of their nodes</source>
        <translation>einmal für jeden von deren Knoten</translation>
    </message>
    <message>
        <source>from one TP rank alone</source>
        <translation>nur von einem TP-Rang</translation>
    </message>
    <message>
        <source>Router&apos;s weights</source>
        <translation>Router-Gewichte</translation>
    </message>
    <message>
        <source>results: which are kept</source>
        <translation>Ergebnisse: die behalten werden</translation>
    </message>
    <message>
        <source>activations: no results are kept</source>
        <translation>Aktivierungen: keine Ergebnisse werden behalten</translation>
    </message>
    <message>
        <source>Kept activations</source>
        <translation>Behaltene Aktivierungen</translation>
    </message>
    <message>
        <source>same: as they are computed</source>
        <translation>gleich: wie berechnet</translation>
    </message>
    <message>
        <source>Copies of logits</source>
        <translation>Kopien der Logits</translation>
    </message>
    <message>
        <source>none: the gradient in their place</source>
        <translation>keine: der Gradient an ihrer Stelle</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>Gradient</translation>
    </message>
    <message>
        <source>gradient: beside the logits, as torch.compile fuses the loss</source>
        <translation>Gradient: neben den Logits, wie torch.compile den Verlust zusammenfasst</translation>
    </message>
    <message>
        <source>fp32: op by op</source>
        <translation>fp32: Schritt für Schritt</translation>
    </message>
    <message>
        <source>fp32: a copy of the logits, the gradient of their log-probabilities and that of the copy, as PyTorch computes the loss by itself</source>
        <translation>fp32: eine Kopie der Logits, der Gradient ihrer Log-Wahrscheinlichkeiten und der Gradient der Kopie, wie PyTorch den Verlust von sich aus berechnet</translation>
    </message>
    <message>
        <source>fp8: inputs of linear layers</source>
        <translation>fp8: Eingaben linearer Schichten</translation>
    </message>
    <message>
        <source>fp8: inputs of linear layers, experts and activations in FP8, that of the attention&apos;s projection in 12 bits</source>
        <translation>fp8: Eingaben linearer Schichten, Experten und Aktivierungsfunktionen in FP8, die der Projektion der Attention in 12 Bit</translation>
    </message>
    <message>
        <source>Dispatch in FP8</source>
        <translation>Verteilung in FP8</translation>
    </message>
    <message>
        <source>Overlap experts</source>
        <translation>Experten überlappen</translation>
    </message>
    <message>
        <source>Products</source>
        <translation>Produkte</translation>
    </message>
    <message>
        <source>same: as they are stored</source>
        <translation>gleich: wie gespeichert</translation>
    </message>
    <message>
        <source>fp8: made of 16 bit</source>
        <translation>fp8: aus 16 Bit gemacht</translation>
    </message>
    <message>
        <source>Scatter/gather</source>
        <translation>Aufteilen und Sammeln</translation>
    </message>
    <message>
        <source>needs PP and TP above 1, without sequence parallelism</source>
        <translation>braucht PP und TP über 1, ohne Sequenzparallelität</translation>
    </message>
    <message>
        <source>Overlap pipeline</source>
        <translation>Pipeline überlappen</translation>
    </message>
    <message>
        <source>needs PP above 1</source>
        <translation>braucht PP über 1</translation>
    </message>
    <message>
        <source>Micro-batch group (0: auto)</source>
        <translation>Mikro-Batch-Gruppe (0: auto)</translation>
    </message>
    <message>
        <source>needs interleaving</source>
        <translation>braucht Interleaving</translation>
    </message>
    <message>
        <source>Offload activations</source>
        <translation>Aktivierungen auslagern</translation>
    </message>
    <message>
        <source>Offload optimizer</source>
        <translation>Optimierer auslagern</translation>
    </message>
    <message>
        <source>ZeRO 2 accumulates</source>
        <translation>ZeRO 2 sammelt an</translation>
    </message>
    <message>
        <source>needs ZeRO 1 or 2</source>
        <translation>braucht ZeRO 1 oder 2</translation>
    </message>
    <message>
        <source>needs ZeRO 2</source>
        <translation>braucht ZeRO 2</translation>
    </message>
    <message>
        <source>Recomputed layers (0: all)</source>
        <translation>Neu gerechnet (0: alle)</translation>
    </message>
    <message>
        <source>needs full recompute</source>
        <translation>braucht volles Neurechnen</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Ablaufplan</translation>
    </message>
    <message>
        <source>Chunks per rank</source>
        <translation>Stücke je Rang</translation>
    </message>
    <message>
        <source>Stage layers</source>
        <translation>Schichten je Stufe</translation>
    </message>
    <message>
        <source>Micro-batch size</source>
        <translation>Mikro-Batch-Größe</translation>
    </message>
    <message>
        <source>Micro-batches</source>
        <translation>Mikro-Batches</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>Neu rechnen</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>select.</source>
        <translation>teils</translation>
    </message>
    <message>
        <source>selective: attention is computed again in the backward</source>
        <translation>ausgewählt: Attention wird im Rückwärtslauf neu gerechnet</translation>
    </message>
    <message>
        <source>full</source>
        <translation>ganz</translation>
    </message>
    <message>
        <source>only the inputs of layers are kept</source>
        <translation>nur die Eingaben der Schichten bleiben</translation>
    </message>
    <message>
        <source>Context kind</source>
        <translation>Art der Kontextteilung</translation>
    </message>
    <message>
        <source>ring</source>
        <translation>Ring</translation>
    </message>
    <message>
        <source>all-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <source>Ulysses</source>
        <translation>Ulysses</translation>
    </message>
    <message>
        <source>local: wrong</source>
        <translation>lokal: falsch</translation>
    </message>
    <message>
        <source>each rank attends to its own tokens only: another function, which the proof refuses</source>
        <translation>jeder Rang beachtet nur seine eigenen Token: eine andere Funktion, die der Beweis ablehnt</translation>
    </message>
    <message>
        <source>Context split</source>
        <translation>Kontextschnitt</translation>
    </message>
    <message>
        <source>needs CP other than Ulysses</source>
        <translation>braucht CP ohne Ulysses</translation>
    </message>
    <message>
        <source>zigzag: equal work</source>
        <translation>Zickzack: gleiche Arbeit</translation>
    </message>
    <message>
        <source>contiguous: the last computes most</source>
        <translation>zusammenhängend: der letzte rechnet am meisten</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>unfused: keeps the scores</source>
        <translation>einzeln: hält die Bewertungen</translation>
    </message>
    <message>
        <source>fused: computes them again</source>
        <translation>verschmolzen: rechnet sie neu</translation>
    </message>
    <message>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>Dropout</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Gradient clip (0: none)</source>
        <translation>Gradienten kappen (0: nicht)</translation>
    </message>
    <message>
        <source>Balance loss, α (0: none)</source>
        <translation>Ausgleichsverlust, α (0: keiner)</translation>
    </message>
    <message>
        <source>Router z-loss (0: none)</source>
        <translation>Router-z-Verlust (0: keiner)</translation>
    </message>
    <message>
        <source>Bias ±γ per step (0: none)</source>
        <translation>Bias ±γ je Schritt (0: keiner)</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>neighbours: 0 1, 2 3, ...</source>
        <translation>Nachbarn: 0 1, 2 3, ...</translation>
    </message>
    <message>
        <source>in turn: 0 4, 1 5, ...</source>
        <translation>reihum: 0 4, 1 5, ...</translation>
    </message>
    <message>
        <source>Skew, share sent to expert 0</source>
        <translation>Schiefe, Anteil an Experte 0</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>CPU, rehearsal</source>
        <translation>CPU, Probe</translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation>CUDA</translation>
    </message>
    <message>
        <source>Timed steps</source>
        <translation>Gewertete Schritte</translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation>Anlaufschritte</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>custom</source>
        <translation>eigene</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
</context>
<context>
    <name>summary</name>
    <message>
        <source>1 hint</source>
        <translation>1 Tipp</translation>
    </message>
    <message>
        <source>%1 hints</source>
        <translation>%1 Tipps</translation>
    </message>
    <message>
        <source>right at the first try</source>
        <translation>im ersten Versuch richtig</translation>
    </message>
    <message>
        <source>right at try %1</source>
        <translation>im %1. Versuch richtig</translation>
    </message>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>not right</source>
        <translation>nicht richtig</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>run %1</source>
        <translation>Lauf %1</translation>
    </message>
    <message>
        <source>rehearsed %1</source>
        <translation>geprobt %1</translation>
    </message>
    <message>
        <source>%1 of %2 questions right at the first try</source>
        <translation>%1 von %2 Fragen beim ersten Versuch richtig</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>%1 of %2 rows right</source>
        <translation>%1 von %2 Zeilen richtig</translation>
    </message>
    <message>
        <source>the answer was shown</source>
        <translation>die Lösung wurde gezeigt</translation>
    </message>
    <message>
        <source>**✓✓ Mastered:** “%1” and two thirds of all questions were right at the first try.</source>
        <translation>**✓✓ Gemeistert:** „%1“ und zwei Drittel aller Fragen waren beim ersten Versuch richtig.</translation>
    </message>
    <message>
        <source>**✓✓ Mastered before.** This time “%1”, or more than a third of all questions, was not right at the first try.</source>
        <translation>**✓✓ Früher schon beherrscht.** Diesmal war „%1“ oder mehr als ein Drittel aller Fragen nicht im ersten Versuch richtig.</translation>
    </message>
    <message>
        <source>**✓ Done, not mastered yet.** For that “%1” and two thirds of all questions must be right at the first try: start the lesson again, with new numbers.</source>
        <translation>**✓ Fertig, noch nicht gemeistert.** Dafür müssen „%1“ und zwei Drittel aller Fragen beim ersten Versuch richtig sein: Beginne die Lektion noch einmal, mit neuen Zahlen.</translation>
    </message>
    <message>
        <source>run, check not met</source>
        <translation>Lauf, Prüfung nicht bestanden</translation>
    </message>
    <message>
        <source>order built</source>
        <translation>Reihenfolge gebaut</translation>
    </message>
    <message>
        <source>goal reached</source>
        <translation>Ziel erreicht</translation>
    </message>
    <message>
        <source>guess: %1</source>
        <translation>geschätzt: %1</translation>
    </message>
    <message>
        <source>answer: %1</source>
        <translation>Antwort: %1</translation>
    </message>
    <message>
        <source>%1 of %2 questions right at the first try (what is built or reached does not count)</source>
        <translation>%1 von %2 Fragen beim ersten Versuch richtig (Gebautes und Ziele zählen nicht)</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>%1 of %2, %3</source>
        <translation>%1 (%2), %3</translation>
    </message>
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
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>input gradient of %1</source>
        <translation>Eingabegradient von %1</translation>
    </message>
    <message>
        <source>weight gradient of %1</source>
        <translation>Gewichtsgradient von %1</translation>
    </message>
    <message>
        <source>%1 computed again</source>
        <translation>%1 neu gerechnet</translation>
    </message>
    <message>
        <source>%1, layer %2,</source>
        <translation>%1, Schicht %2,</translation>
    </message>
    <message>
        <source>clear gradients</source>
        <translation>Gradienten löschen</translation>
    </message>
    <message>
        <source>clear</source>
        <translation>löschen</translation>
    </message>
    <message>
        <source>%1 of %2 over the %3 ranks of the %4 group, %5</source>
        <translation>%1 von %2 über die %3 Ränge der %4-Gruppe, %5</translation>
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
        <source>computing %1</source>
        <translation>gerechnet %1</translation>
    </message>
    <message>
        <source>%1 collectives %2</source>
        <translation>%1 Kollektive %2</translation>
    </message>
    <message>
        <source>waiting %1</source>
        <translation>gewartet %1</translation>
    </message>
    <message>
        <source>inside: %1</source>
        <translation>darin: %1</translation>
    </message>
    <message>
        <source>the duration is set</source>
        <translation>die Dauer ist gesetzt</translation>
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
        <source>L%1</source>
        <comment>a layer, as short as can be</comment>
        <translation>S%1</translation>
    </message>
    <message>
        <source>%1 of micro-batch %2 on %3</source>
        <translation>%1 von Mikro-Batch %2 auf %3</translation>
    </message>
    <message>
        <source>%1 in the %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>Clearing the gradients on %1</source>
        <translation>Gradienten löschen auf %1</translation>
    </message>
    <message>
        <source>Optimizer states to the host&apos;s memory and back on %1</source>
        <translation>Optimiererzustände in den Hauptspeicher und zurück auf %1</translation>
    </message>
    <message>
        <source>Gradients into another type on %1</source>
        <translation>Gradienten in einen anderen Typ auf %1</translation>
    </message>
    <message>
        <source>Norm of the gradients on %1</source>
        <translation>Norm der Gradienten auf %1</translation>
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
        <source>layer %1, %2</source>
        <translation>Schicht %1, %2</translation>
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
        <source>REHEARSAL</source>
        <translation>PROBE</translation>
    </message>
    <message>
        <source>durations set, 1:%1</source>
        <translation>Dauern gesetzt, 1:%1</translation>
    </message>
    <message>
        <source>a core for every lane</source>
        <translation>ein Kern für jede Spur</translation>
    </message>
    <message>
        <source>PREDICTED</source>
        <translation>VORHERGESAGT</translation>
    </message>
    <message>
        <source>for the cores, as the GPUs are not calibrated yet</source>
        <translation>für die Kerne, da die GPUs noch nicht kalibriert sind</translation>
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
        <source>for this engine, calibrated by an older version</source>
        <translation>für diese Engine, von einer älteren Version kalibriert</translation>
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
        <source>not evidence of speed</source>
        <translation>kein Beleg für Geschwindigkeit</translation>
    </message>
    <message>
        <source>other processes used its GPUs</source>
        <translation>andere Prozesse nutzten seine GPUs</translation>
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
        <source>Run of other settings: %1</source>
        <translation>Lauf mit anderen Einstellungen: %1</translation>
    </message>
    <message>
        <source>Rehearsal of other settings: %1</source>
        <translation>Probe mit anderen Einstellungen: %1</translation>
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
    <message>
        <source>for %1, published efficiencies</source>
        <translation>für %1, Literaturwerte</translation>
    </message>
    <message>
        <source>training step %1 of %2, the median</source>
        <translation>Trainingsschritt %1 von %2, der Median</translation>
    </message>
    <message>
        <source>other settings</source>
        <translation>anderen Einstellungen</translation>
    </message>
    <message>
        <source>PINNED</source>
        <translation>ANGEHEFTET</translation>
    </message>
    <message>
        <source>with %1</source>
        <translation>mit %1</translation>
    </message>
    <message>
        <source>your order</source>
        <translation>deine Reihenfolge</translation>
    </message>
    <message>
        <source>%1 micro-batch of %2</source>
        <translation>%1 Mikro-Batch zu %2</translation>
    </message>
    <message>
        <source>CP %1</source>
        <translation>CP %1</translation>
    </message>
    <message>
        <source>other work kept the cores: times are off by a factor of %1</source>
        <translation>andere Arbeit hielt die Kerne: Zeiten weichen um den Faktor %1 ab</translation>
    </message>
    <message>
        <source>other work kept the cores: computing took %1 times its processor time</source>
        <translation>andere Arbeit hielt die Kerne: Rechnen dauerte %1-mal so lange wie seine Prozessorzeit</translation>
    </message>
    <message>
        <source>Durations set, 1:%1: what takes one second on the machine is given %1 seconds here.</source>
        <translation>Dauern gesetzt, 1:%1: was auf der Maschine eine Sekunde dauert, bekommt hier %1 Sekunden.</translation>
    </message>
</context>
<context>
    <name>parallelarium::EngineJobs</name>
    <message>
        <source>%1: %2 cells of the result are wrong, so the measuring ends.</source>
        <translation>%1: %2 Zellen des Ergebnisses sind falsch, darum endet das Messen.</translation>
    </message>
    <message>
        <source>Starting the ranks</source>
        <translation>Die Ränge starten</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Measuring this computer</source>
        <translation>Dieser Rechner wird vermessen</translation>
    </message>
    <message>
        <source>Cancelling</source>
        <translation>Wird abgebrochen</translation>
    </message>
    <message>
        <source>warm-up step %1 of %2</source>
        <translation>Anlaufschritt %1 von %2</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
</context>
<context>
    <name>run_advice</name>
    <message>
        <source>%1 is not this computer, so nothing can run on it from here. %2</source>
        <translation>%1 ist nicht dieser Rechner, von hier kann dort also nichts laufen. %2</translation>
    </message>
    <message>
        <source>fewer ranks</source>
        <translation>weniger Ränge</translation>
    </message>
    <message>
        <source>a smaller model</source>
        <translation>ein kleineres Modell</translation>
    </message>
    <message>
        <source>a smaller micro-batch</source>
        <translation>ein kleinerer Mikro-Batch</translation>
    </message>
    <message>
        <source>more stages</source>
        <translation>mehr Stufen</translation>
    </message>
    <message>
        <source>more TP</source>
        <translation>mehr TP</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neurechnen</translation>
    </message>
    <message>
        <source>What would shrink it: %1.</source>
        <translation>Das würde es verkleinern: %1.</translation>
    </message>
    <message>
        <source>This does not fit in memory. %1</source>
        <translation>Das passt nicht in den Speicher. %1</translation>
    </message>
    <message>
        <source>This does not fit in memory: the ranks need %1 together of %2. %3</source>
        <translation>Das passt nicht in den Speicher: die Ränge brauchen zusammen %1 von %2. %3</translation>
    </message>
    <message>
        <source>This does not fit in memory: stage %1 needs %2 of %3. %4</source>
        <translation>Das passt nicht in den Speicher: Stufe %1 braucht %2 von %3. %4</translation>
    </message>
    <message>
        <source>Run a small copy here</source>
        <translation>Kleine Kopie hier starten</translation>
    </message>
    <message>
        <source>These ranks are on GPUs, which %1 keeps waiting: gpt2-124m gives them work.</source>
        <translation>Diese Ränge laufen auf GPUs, die %1 warten lässt: gpt2-124m gibt ihnen Arbeit.</translation>
    </message>
    <message>
        <source>Run on 1 GPU rank</source>
        <translation>Auf 1 GPU-Rang starten</translation>
    </message>
    <message>
        <source>Run on %1 GPU ranks</source>
        <translation>Auf %1 GPU-Rängen starten</translation>
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
        <source>A small copy cannot run here either: %1</source>
        <translation>Auch eine kleine Kopie kann hier nicht laufen: %1</translation>
    </message>
    <message>
        <source>Run a small copy here instead, with the same mesh and schedule.</source>
        <translation>Starte stattdessen hier eine kleine Kopie, mit demselben Gitter und Ablaufplan.</translation>
    </message>
    <message>
        <source>Run a small copy here instead; fewer ranks run at once here: %1.</source>
        <translation>Starte stattdessen hier eine kleine Kopie; hier laufen weniger Ränge zugleich: %1.</translation>
    </message>
    <message>
        <source>Small copy</source>
        <translation>Kleine Kopie</translation>
    </message>
    <message>
        <source>A run would show the answer: commit yours in the lesson first.</source>
        <translation>Ein Lauf würde die Antwort zeigen: lege zuerst deine in der Lektion fest.</translation>
    </message>
    <message>
        <source>A run measures the GPUs of this computer first, once: some 25 s, and 20 s for every further kind.</source>
        <translation>Ein Lauf misst zuerst, einmal, die GPUs dieses Rechners: etwa 25 s, und 20 s für jede weitere Art.</translation>
    </message>
    <message>
        <source>Measuring this computer first, %1</source>
        <translation>Zuerst wird dieser Rechner gemessen, %1</translation>
    </message>
    <message>
        <source>Measuring this computer first, %1: %2</source>
        <translation>Zuerst wird dieser Rechner gemessen, %1: %2</translation>
    </message>
    <message>
        <source>fused attention</source>
        <translation>verschmolzene Attention</translation>
    </message>
    <message>
        <source>A run measures the cores of this computer first, once: some 5 s, longer while other programs run.</source>
        <translation>Ein Lauf misst zuerst, einmal, die Kerne dieses Rechners: etwa 5 s, länger, solange andere Programme laufen.</translation>
    </message>
    <message>
        <source>Rehearse on 1 rank</source>
        <translation>Auf 1 Rang proben</translation>
    </message>
    <message>
        <source>Rehearse on %1 ranks</source>
        <translation>Auf %1 Rängen proben</translation>
    </message>
    <message>
        <source>Rehearse</source>
        <translation>Proben</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Durations are set as predicted; the rehearsal takes %1.</source>
        <translation>Dauern sind gesetzt, wie vorhergesagt; die Probe dauert %1.</translation>
    </message>
    <message>
        <source>Fewer timed steps, or “Run a small copy here”, take less.</source>
        <translation>Weniger gewertete Schritte oder „Kleine Kopie hier starten“ brauchen weniger Zeit.</translation>
    </message>
    <message>
        <source>Fewer timed steps take less.</source>
        <translation>Weniger gewertete Schritte brauchen weniger Zeit.</translation>
    </message>
    <message>
        <source>Durations are set as predicted.</source>
        <translation>Dauern sind gesetzt, wie vorhergesagt.</translation>
    </message>
    <message>
        <source>Oversubscribed: ranks share cores, so times are no evidence of speed.</source>
        <translation>Überbelegt: Ränge teilen sich Kerne, daher sind Zeiten kein Beleg für Geschwindigkeit.</translation>
    </message>
    <message>
        <source>Commit your answer in the lesson first.</source>
        <translation>Lege zuerst deine Antwort in der Lektion fest.</translation>
    </message>
</context>
<context>
    <name>parallelarium::OrderEdit</name>
    <message>
        <source>The order has a line for each of %1 ranks, but PP is %2. Set PP to %1, or choose a schedule to begin anew.</source>
        <translation>Die Reihenfolge hat eine Zeile für jeden von %1 Rängen, aber PP ist %2. Setze PP auf %1, oder wähle einen Plan, um neu zu beginnen.</translation>
    </message>
    <message>
        <source>This order has more than %1 actions: too many to edit by hand.</source>
        <translation>Diese Reihenfolge hat mehr als %1 Aktionen: zu viele, um sie von Hand zu ändern.</translation>
    </message>
    <message>
        <source>%1 on stage %2</source>
        <translation>%1 auf Stufe %2</translation>
    </message>
    <message>
        <source>%1 of chunk %2 on rank %3</source>
        <translation>%1 von Stück %2 auf Rang %3</translation>
    </message>
    <message>
        <source>Place %1</source>
        <translation>%1 setzen</translation>
    </message>
    <message>
        <source>Insert %1 actions</source>
        <translation>%1 Aktionen einfügen</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>Remove %1 actions</source>
        <translation>%1 Aktionen entfernen</translation>
    </message>
    <message>
        <source>Move %1</source>
        <translation>%1 verschieben</translation>
    </message>
    <message>
        <source>There is no chunk %1: the last one is %2.</source>
        <translation>Es gibt kein Stück %1: Das letzte ist %2.</translation>
    </message>
    <message>
        <source>Type the order of stage %1</source>
        <translation>Reihe von Stufe %1 tippen</translation>
    </message>
    <message>
        <source>Clear the order of stage %1</source>
        <translation>Reihe von Stufe %1 leeren</translation>
    </message>
    <message>
        <source>Clear the order</source>
        <translation>Reihenfolge leeren</translation>
    </message>
    <message>
        <source>Repeat the order to the end</source>
        <translation>Reihenfolge bis zum Ende wiederholen</translation>
    </message>
    <message>
        <source>Split the backwards in two</source>
        <translation>Rückwärtsläufe in zwei Teile teilen</translation>
    </message>
    <message>
        <source>Keep backwards whole</source>
        <translation>Rückwärtsläufe ganz lassen</translation>
    </message>
    <message>
        <source>The order names micro-batch %1, but there are only %2.</source>
        <translation>Die Reihenfolge nennt Mikro-Batch %1, aber es gibt nur %2.</translation>
    </message>
    <message>
        <source>Open an order</source>
        <translation>Reihenfolge öffnen</translation>
    </message>
    <message>
        <source>1F1B with one more warm-up forward</source>
        <translation>1F1B mit einem weiteren Vorwärtslauf am Anfang</translation>
    </message>
    <message>
        <source>1F1B with %1 more warm-up forwards</source>
        <translation>1F1B mit %1 weiteren Vorwärtsläufen am Anfang</translation>
    </message>
    <message>
        <source>GPipe with the backwards in the order of the forwards</source>
        <translation>GPipe mit den Rückwärtsläufen in der Reihenfolge der Vorwärtsläufe</translation>
    </message>
    <message>
        <source>Reset the order</source>
        <translation>Reihenfolge zurücksetzen</translation>
    </message>
</context>
<context>
    <name>parallelarium::OrderEditor</name>
    <message>
        <source>Select the actions to copy with Shift and the arrow keys.</source>
        <translation>Wähle die Aktionen zum Kopieren mit Umschalt und den Pfeiltasten.</translation>
    </message>
    <message>
        <source>Nothing was copied.</source>
        <translation>Es wurde nichts kopiert.</translation>
    </message>
    <message>
        <source>No micro-batch is left for this block.</source>
        <translation>Für diesen Block ist kein Mikro-Batch übrig.</translation>
    </message>
    <message>
        <source>There is no micro-batch %1: the last is %2.</source>
        <translation>Es gibt keinen Mikro-Batch %1: Der letzte ist %2.</translation>
    </message>
    <message>
        <source>Order editor</source>
        <translation>Reihenfolge bearbeiten</translation>
    </message>
    <message>
        <source>Your order in time</source>
        <translation>Deine Reihenfolge in der Zeit</translation>
    </message>
    <message>
        <source>Your order, row by row</source>
        <translation>Deine Reihenfolge, Reihe für Reihe</translation>
    </message>
    <message>
        <source>Length in forwards</source>
        <translation>Länge in Vorwärtsläufen</translation>
    </message>
    <message>
        <source>The row as text</source>
        <translation>Die Reihe als Text</translation>
    </message>
    <message>
        <source>How backwards are placed</source>
        <translation>Wie Rückwärtsläufe gesetzt werden</translation>
    </message>
    <message>
        <source>whole backward</source>
        <translation>ganz</translation>
    </message>
    <message>
        <source>split in I and W</source>
        <translation>in I und W</translation>
    </message>
    <message>
        <source>The gradient of the input and that of the weights are two actions</source>
        <translation>Der Gradient der Eingabe und der der Gewichte sind zwei Aktionen</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Back to the timeline of this setup</source>
        <translation>Zurück zur Zeitachse dieser Einstellungen</translation>
    </message>
    <message>
        <source>Repeat to the end</source>
        <translation>Muster fortsetzen</translation>
    </message>
    <message>
        <source>Goes on with the pattern of each row&apos;s last actions, as far as it may; what cannot follow stays a gap</source>
        <translation>Führt das Muster der letzten Aktionen jeder Reihe fort, so weit es geht; was nicht folgen kann, bleibt eine Lücke</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Clear the row</source>
        <translation>Reihe leeren</translation>
    </message>
    <message>
        <source>Removes all actions of the row with the cursor</source>
        <translation>Entfernt alle Aktionen der Reihe mit der Schreibmarke</translation>
    </message>
    <message>
        <source>Clear all</source>
        <translation>Alles leeren</translation>
    </message>
    <message>
        <source>Open …</source>
        <translation>Öffnen …</translation>
    </message>
    <message>
        <source>An order of a file: this program&apos;s text, or PyTorch&apos;s compute-only CSV</source>
        <translation>Eine Reihenfolge aus einer Datei: Text dieses Programms oder CSV von PyTorch, nur Rechenschritte</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>Speichern …</translation>
    </message>
    <message>
        <source>As this program&apos;s text, or as PyTorch&apos;s compute-only CSV</source>
        <translation>Als Text dieses Programms oder als CSV von PyTorch, nur Rechenschritte</translation>
    </message>
    <message>
        <source>Your order</source>
        <translation>Deine Reihenfolge</translation>
    </message>
    <message>
        <source>1 stage</source>
        <translation>1 Stufe</translation>
    </message>
    <message>
        <source>%1 stages</source>
        <translation>%1 Stufen</translation>
    </message>
    <message>
        <source>1 micro-batch</source>
        <translation>1 Mikro-Batch</translation>
    </message>
    <message>
        <source>%1 micro-batches</source>
        <translation>%1 Mikro-Batches</translation>
    </message>
    <message>
        <source>FORWARDS LONG</source>
        <translation>VORWÄRTSLÄUFE LANG</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>Versuch %1</translation>
    </message>
    <message>
        <source>Open an order</source>
        <translation>Reihenfolge öffnen</translation>
    </message>
    <message>
        <source>Orders (*.txt *.csv);;All files (*)</source>
        <translation>Reihenfolgen (*.txt *.csv);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Text of this program (*.txt)</source>
        <translation>Text dieses Programms (*.txt)</translation>
    </message>
    <message>
        <source>PyTorch&apos;s compute-only schedule (*.csv)</source>
        <translation>Plan von PyTorch, nur Rechenschritte (*.csv)</translation>
    </message>
    <message>
        <source>Save the order</source>
        <translation>Reihenfolge speichern</translation>
    </message>
    <message>
        <source>PyTorch&apos;s notation holds whole orders only; this one is not finished.</source>
        <translation>Die Schreibweise von PyTorch hält nur ganze Reihenfolgen; diese ist nicht fertig.</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>%1 kann nicht geschrieben werden: %2</translation>
    </message>
    <message>
        <source>Let it hang for %1 s</source>
        <translation>%1 s hängen lassen</translation>
    </message>
    <message>
        <source>Real ranks run this order until none has moved for so long; the engine says what each waits for. What is not placed yet is put behind it, where no rank comes</source>
        <translation>Echte Ränge führen diese Reihenfolge aus, bis sich so lange keiner bewegt hat; die Engine sagt, worauf jeder wartet. Was noch nicht gesetzt ist, kommt dahinter, wohin kein Rang gelangt</translation>
    </message>
    <message>
        <source>No rank moved for %1 s:</source>
        <translation>%1 s lang bewegte sich kein Rang:</translation>
    </message>
    <message>
        <source>Ranks of this computer run it, where every action is there once at most</source>
        <translation>Ränge dieses Rechners führen sie aus, wenn keine Aktion zweimal vorkommt</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>The order that this step began with</source>
        <translation>Die Reihenfolge, mit der dieser Schritt begann</translation>
    </message>
    <message>
        <source>Show the goal's shape</source>
        <translation>Form des Ziels zeigen</translation>
    </message>
    <message>
        <source>Lines below the rows say when each stage works in an order that solves it</source>
        <translation>Linien unter den Zeilen sagen, wann jede Stufe in einer Reihenfolge arbeitet, die es löst</translation>
    </message>
    <message>
        <source>%1 as text</source>
        <translation>%1 als Text</translation>
    </message>
    <message>
        <source>floor: %1</source>
        <translation>Untergrenze: %1</translation>
    </message>
    <message>
        <source>par: %1</source>
        <translation>Par: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonPicture</name>
    <message>
        <source>Picture: the order of work on %1 ranks</source>
        <translation>Bild: die Reihenfolge der Arbeit auf %1 Rängen</translation>
    </message>
    <message>
        <source>Picture: which of %1 ranks send in which step</source>
        <translation>Bild: welcher von %1 Rängen in welchem Schritt sendet</translation>
    </message>
    <message>
        <source>Picture: what each rank holds of the model</source>
        <translation>Bild: was jeder Rang vom Modell hält</translation>
    </message>
</context>
<context>
    <name>parallelarium::CourseMap</name>
    <message>
        <source>Afterwards you can</source>
        <translation>Danach kannst du</translation>
    </message>
    <message>
        <source>Index and sources …</source>
        <translation>Begriffe und Quellen …</translation>
    </message>
    <message>
        <source>Every concept with the lessons that introduce it, and every source that they cite</source>
        <translation>Jeder Begriff mit den Lektionen, die ihn einführen, und jede Quelle, die sie nennen</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>Start anew</source>
        <translation>Neu beginnen</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <source>There are no lessons.</source>
        <translation>Es gibt keine Lektionen.</translation>
    </message>
    <message>
        <source>about %1 left</source>
        <translation>noch etwa %1</translation>
    </message>
    <message>
        <source>You have done every lesson</source>
        <translation>Alle Lektionen sind fertig</translation>
    </message>
    <message>
        <source>Open any of them again, or go on in Explore.</source>
        <translation>Öffne eine davon noch einmal, oder mach in Erkunden weiter.</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1 lessons · %2 done, %3 mastered · about %4 left&lt;/b&gt; · Nothing is locked: open any lesson.</source>
        <translation>&lt;b&gt;%1 Lektionen · %2 fertig, %3 gemeistert · noch etwa %4&lt;/b&gt; · Nichts ist gesperrt: Öffne jede Lektion.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>after %1</source>
        <translation>nach %1</translation>
    </message>
    <message>
        <source>Builds on</source>
        <translation>Baut auf</translation>
    </message>
    <message>
        <source>Leads to</source>
        <translation>Führt zu</translation>
    </message>
    <message>
        <source>Uses</source>
        <translation>Benutzt</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rang</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ränge</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Learn</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>Plan my training</source>
        <translation>Mein Training planen</translation>
    </message>
    <message>
        <source>Choose a model and a machine, and see time, memory and traffic predicted.</source>
        <translation>Wähle ein Modell und eine Maschine, und sieh Zeit, Speicher und Verkehr vorhergesagt.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>A setup, a document or a picture that this program saved.</source>
        <translation>Eine Einstellung, ein Dokument oder ein Bild, das dieses Programm gespeichert hat.</translation>
    </message>
    <message>
        <source>Begin with “%1”, %2. Nothing has to be known before.</source>
        <translation>Beginne mit „%1“, %2. Vorher muss man nichts wissen.</translation>
    </message>
    <message>
        <source>One question of each lesson that is due, with new numbers; at most %1 at a time</source>
        <translation>Eine Frage aus jeder fälligen Lektion, mit neuen Zahlen; höchstens %1 auf einmal</translation>
    </message>
    <message>
        <source>Review: 1 due</source>
        <translation>Wiederholen: 1 fällig</translation>
    </message>
    <message>
        <source>Review: %1 due</source>
        <translation>Wiederholen: %1 fällig</translation>
    </message>
    <message>
        <source>What to take away …</source>
        <translation>Was bleibt …</translation>
    </message>
    <message>
        <source>Of every lesson you have done: what to keep, on two printed pages</source>
        <translation>Von jeder Lektion, die du gemacht hast: was du behältst, auf zwei Druckseiten</translation>
    </message>
    <message>
        <source>I know the basics …</source>
        <translation>Die Grundlagen kenne ich …</translation>
    </message>
    <message>
        <source>A question from each of several lessons; what you know can be skipped</source>
        <translation>Eine Frage aus jeder von mehreren Lektionen; was du kennst, kannst du auslassen</translation>
    </message>
    <message>
        <source>&lt;b&gt;Exam&lt;/b&gt; · Lessons that you open now have no hints and no answers, and each question is answered once. The planner is off.</source>
        <translation>&lt;b&gt;Prüfung&lt;/b&gt; · Lektionen, die du jetzt öffnest, haben keine Tipps und keine Lösungen, und jede Frage wird einmal beantwortet. Der Planer ist aus.</translation>
    </message>
    <message>
        <source>Find a lesson</source>
        <translation>Lektion finden</translation>
    </message>
    <message>
        <source>%1, %2 of %3</source>
        <translation>%1, %2 von %3</translation>
    </message>
    <message>
        <source>Playlist: %1</source>
        <translation>Lektionenliste: %1</translation>
    </message>
    <message>
        <source>all done</source>
        <translation>alles erledigt</translation>
    </message>
    <message>
        <source>%1 of %2 · about %3 left</source>
        <translation>%1 von %2 · noch etwa %3</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Takes the playlist away; what is done stays</source>
        <translation>Nimmt die Lektionenliste weg; Erledigtes bleibt</translation>
    </message>
    <message>
        <source>No lesson has “%1”.</source>
        <translation>Keine Lektion enthält „%1“.</translation>
    </message>
    <message>
        <source>✓ Done: %1</source>
        <translation>✓ Fertig: %1</translation>
    </message>
    <message>
        <source>Next: %1</source>
        <translation>Als Nächstes: %1</translation>
    </message>
    <message>
        <source>Next lesson</source>
        <translation>Nächste Lektion</translation>
    </message>
    <message>
        <source>once more</source>
        <translation>noch einmal</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>due for review</source>
        <translation>zur Wiederholung fällig</translation>
    </message>
    <message>
        <source>to a unit that builds on this one</source>
        <translation>zu einer Einheit, die auf dieser aufbaut</translation>
    </message>
    <message>
        <source>%1 · lesson %2 of %3</source>
        <translation>%1 · Lektion %2 von %3</translation>
    </message>
    <message>
        <source>part %1 of %2</source>
        <translation>Teil %1 von %2</translation>
    </message>
    <message>
        <source>One part, %1</source>
        <translation>Ein Teil, %1</translation>
    </message>
    <message>
        <source>%1 parts, %2</source>
        <translation>%1 Teile, %2</translation>
    </message>
    <message>
        <source>Continue, part %1</source>
        <translation>Weiter, Teil %1</translation>
    </message>
    <message>
        <source>%1</source>
        <comment>a unit's title in a line</comment>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>Lessons by unit</source>
        <translation>Lektionen nach Einheiten</translation>
    </message>
    <message>
        <source>About the lesson that is chosen</source>
        <translation>Über die gewählte Lektion</translation>
    </message>
    <message>
        <source>%1 of %2 lessons found</source>
        <translation>%1 von %2 Lektionen gefunden</translation>
    </message>
    <message>
        <source>mastered</source>
        <translation>gemeistert</translation>
    </message>
    <message>
        <source>Review: %1 of %2 due</source>
        <translation>Wiederholen: %1 von %2 fällig</translation>
    </message>
    <message>
        <source>Name in a playlist</source>
        <translation>Name in einer Lektionenliste</translation>
    </message>
</context>
<context>
    <name>parallelarium::LessonTile</name>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>due for review</source>
        <translation>zur Wiederholung fällig</translation>
    </message>
    <message>
        <source>can be skipped</source>
        <translation>kannst du auslassen</translation>
    </message>
    <message>
        <source>part %1 of %2</source>
        <translation>Teil %1 von %2</translation>
    </message>
    <message>
        <source>mastered</source>
        <translation>gemeistert</translation>
    </message>
</context>
<context>
    <name>parallelarium::DrawingGrid</name>
    <message>
        <source>Stage %1, slot %2: %3, marked</source>
        <translation>Stufe %1, Fach %2: %3, markiert</translation>
    </message>
    <message>
        <source>Stage %1, slot %2: %3</source>
        <translation>Stufe %1, Fach %2: %3</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>Stage %1: </source>
        <translation>Stufe %1: </translation>
    </message>
    <message>
        <source>Drawing to check, by stage and slot</source>
        <translation>Zeichnung zum Prüfen, nach Stufe und Fach</translation>
    </message>
</context>
<context>
    <name>holders</name>
    <message>
        <source>tied: the head adds gradients</source>
        <translation>geteilt: der Kopf addiert Gradienten</translation>
    </message>
    <message>
        <source>buffers for work and messages</source>
        <translation>Puffer für Arbeit und Nachrichten</translation>
    </message>
    <message>
        <source>together</source>
        <translation>zusammen</translation>
    </message>
    <message>
        <source>tables: the head adds to the gradients, too</source>
        <translation>Tabellen: auch der Kopf addiert zu den Gradienten</translation>
    </message>
    <message>
        <source>together %1: %2</source>
        <translation>zusammen %1: %2</translation>
    </message>
    <message>
        <source>The head has the same table: its gradient is added here too, long before the embedding&apos;s.</source>
        <translation>Der Kopf hat dieselbe Tabelle: Auch sein Gradient wird hier addiert, lange vor dem der Einbettung.</translation>
    </message>
    <message>
        <source>tables</source>
        <translation>Tabellen</translation>
    </message>
    <message>
        <source>head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>shard, %1 to %2 of it</source>
        <translation>Teil, %1 bis %2 davon</translation>
    </message>
    <message>
        <source>partial sum of its own data</source>
        <translation>Teilsumme aus eigenen Daten</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>Kopie</translation>
    </message>
    <message>
        <source>absent: memory is reserved, nothing is in it yet</source>
        <translation>fehlt: Speicher ist reserviert, noch liegt nichts darin</translation>
    </message>
    <message>
        <source>absent</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation>Optimiererzustand</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <source>ZeRO %1</source>
        <translation>ZeRO %1</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>One rank holds everything of its layers: nobody shares them.</source>
        <translation>Ein Rang hält alles von seinen Schichten: Niemand teilt sie mit ihm.</translation>
    </message>
    <message>
        <source>DP 4</source>
        <translation>DP 4</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>Nothing is under way between the ranks.</source>
        <translation>Zwischen den Rängen ist nichts unterwegs.</translation>
    </message>
    <message>
        <source>Next: %1, in %2</source>
        <translation>Als Nächstes: %1, in %2</translation>
    </message>
    <message>
        <source>%1 × %2 of %3 %4</source>
        <comment>8 x all-gather of parameters 1.2 MiB</comment>
        <translation>%1 × %2 (%3) %4</translation>
    </message>
    <message>
        <source>sent between the groups, whose shards are copies: %1</source>
        <translation>zwischen den Gruppen, deren Teile Kopien sind, gesendet: %1</translation>
    </message>
    <message>
        <source>sent by rank %1 in a step: %2</source>
        <translation>von Rang %1 in einem Schritt gesendet: %2</translation>
    </message>
    <message>
        <source>sent</source>
        <translation>gesendet</translation>
    </message>
    <message>
        <source>absent: another stage has it</source>
        <translation>fehlt: Eine andere Stufe hat es</translation>
    </message>
    <message>
        <source>under way</source>
        <translation>unterwegs</translation>
    </message>
    <message>
        <source>%1, %2 done</source>
        <translation>%1, zu %2 fertig</translation>
    </message>
    <message>
        <source>shard</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>partial sum</source>
        <translation>Teilsumme</translation>
    </message>
    <message>
        <source>collective under way</source>
        <translation>Kollektiv unterwegs</translation>
    </message>
    <message>
        <source>%1 here</source>
        <translation>%1 hier</translation>
    </message>
    <message>
        <source>%1 of it parameters</source>
        <translation>davon Parameter %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>Verlust %1</translation>
    </message>
    <message>
        <source>in the run</source>
        <translation>im Lauf</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>LAYER</source>
        <translation>SCHICHT</translation>
    </message>
    <message>
        <source>%1 (part)</source>
        <comment>a norm of gradients</comment>
        <translation>%1 (Teil)</translation>
    </message>
    <message>
        <source>own fingerprint %1</source>
        <translation>eigener Fingerabdruck %1</translation>
    </message>
    <message>
        <source>fingerprint %1</source>
        <translation>Fingerabdruck %1</translation>
    </message>
    <message>
        <source>fingerprint of the part that it updates alone: %1</source>
        <translation>Fingerabdruck des Teils, den nur er aktualisiert: %1</translation>
    </message>
    <message>
        <source>fingerprint of its parameters: %1</source>
        <translation>Fingerabdruck seiner Parameter: %1</translation>
    </message>
    <message>
        <source>fingerprint of its parameters: %1, another than that of the rank that must hold the same</source>
        <translation>Fingerabdruck seiner Parameter: %1, ein anderer als bei dem Rang, der dasselbe halten muss</translation>
    </message>
    <message>
        <source>Rank %1: %2</source>
        <translation>Rang %1: %2</translation>
    </message>
    <message>
        <source>shard, %1 to %2 of it; memory is reserved for all of it</source>
        <translation>Teil, %1 bis %2 davon; Speicher ist für alles reserviert</translation>
    </message>
    <message>
        <source>reserved, without values</source>
        <translation>reserviert, ohne Werte</translation>
    </message>
    <message>
        <source>BYTES ON THE RANK</source>
        <translation>BYTES AUF DEM RANG</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>Ränge %1 bis %2</translation>
    </message>
    <message>
        <source>ranks %1</source>
        <translation>Ränge %1</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>group %1</source>
        <translation>Gruppe %1</translation>
    </message>
    <message>
        <source>%1 per rank</source>
        <translation>%1 je Rang</translation>
    </message>
    <message>
        <source>After the forward</source>
        <translation>Nach dem Vorwärtslauf</translation>
    </message>
    <message>
        <source>After the backward</source>
        <translation>Nach dem Rückwärtslauf</translation>
    </message>
    <message>
        <source>In the update</source>
        <translation>Im Update</translation>
    </message>
    <message>
        <source> in groups of %1</source>
        <translation> in Gruppen zu %1</translation>
    </message>
    <message>
        <source> in groups of %1 (HSDP)</source>
        <translation> in Gruppen zu %1 (HSDP)</translation>
    </message>
    <message>
        <source>%1, %2 of it buffers</source>
        <translation>%1, davon %2 Puffer</translation>
    </message>
    <message>
        <source>shard, %1 to %2 of it; memory is reserved for %3 to %4</source>
        <translation>Teil, %1 bis %2 davon; Speicher ist für %3 bis %4 reserviert</translation>
    </message>
    <message>
        <source>partial sum of its own data, %1 to %2 of it</source>
        <translation>Teilsumme aus eigenen Daten, %1 bis %2 davon</translation>
    </message>
    <message>
        <source>partial sum of its group&apos;s data, %1 to %2 of it</source>
        <translation>Teilsumme aus den Daten der Gruppe, %1 bis %2 davon</translation>
    </message>
    <message>
        <source>parameters of experts</source>
        <translation>Parameter der Experten</translation>
    </message>
    <message>
        <source>gradients of experts</source>
        <translation>Gradienten der Experten</translation>
    </message>
    <message>
        <source>optimizer state of experts</source>
        <translation>Optimiererzustand der Experten</translation>
    </message>
    <message>
        <source>%1, %2 of it gathered (a buffer in the curve)</source>
        <translation>%1, davon %2 eingesammelt (in der Kurve ein Puffer)</translation>
    </message>
    <message>
        <source>%1, %2 of it in buckets (a buffer in the curve)</source>
        <translation>%1, davon %2 in Buckets (in der Kurve ein Puffer)</translation>
    </message>
    <message>
        <source>%1 to %2 in each layer</source>
        <translation>%1 bis %2 in jeder Schicht</translation>
    </message>
    <message>
        <source>%1 of %2 ranks · Enter: the next</source>
        <translation>%1 von %2 Rängen · Eingabe: die nächsten</translation>
    </message>
    <message>
        <source>N and P: next and previous change. M: after the forward, after the backward, in the update.</source>
        <translation>N und P: nächste und vorige Änderung. M: nach dem Vorwärtslauf, nach dem Rückwärtslauf, im Update.</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>activations by micro-batch</source>
        <translation>Aktivierungen je Mikro-Batch</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>of all layers of its stage</source>
        <translation>aller Schichten seiner Stufe</translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation>Mikro-Batch %1</translation>
    </message>
    <message>
        <source>micro-batches %1 to %2</source>
        <translation>Mikro-Batches %1 bis %2</translation>
    </message>
    <message>
        <source>micro-batches %1</source>
        <translation>Mikro-Batches %1</translation>
    </message>
    <message>
        <source>from above: parameters, gradients, optimizer, activations</source>
        <translation>von oben: Parameter, Gradienten, Optimierer, Aktivierungen</translation>
    </message>
    <message>
        <source>gathered, freed after use</source>
        <translation>gesammelt, danach wieder frei</translation>
    </message>
    <message>
        <source>gathered</source>
        <translation>gesammelt</translation>
    </message>
    <message>
        <source>each of layers %1–%2</source>
        <translation>jede der Schichten %1–%2</translation>
    </message>
    <message>
        <source>Each of ranks %1</source>
        <translation>Jeder der Ränge %1</translation>
    </message>
    <message>
        <source>gradients %1</source>
        <comment>2.31 -&gt; 1.98</comment>
        <translation>Gradienten %1</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>In the run: fingerprint %1 on every rank ✓</source>
        <translation>Im Lauf: auf jedem Rang Fingerabdruck %1 ✓</translation>
    </message>
    <message>
        <source>In the run: fingerprints differ ✗</source>
        <translation>Im Lauf: Fingerabdrücke verschieden ✗</translation>
    </message>
    <message>
        <source>In the run: losses %1</source>
        <translation>Im Lauf: Verluste %1</translation>
    </message>
    <message>
        <source>, norms of own gradients %1</source>
        <translation>, Normen eigener Gradienten %1</translation>
    </message>
    <message>
        <source>In the run: norm of the gradients, added up: %1</source>
        <translation>Im Lauf: Norm der summierten Gradienten: %1</translation>
    </message>
    <message>
        <source>Same copy</source>
        <translation>Gleiche Kopie</translation>
    </message>
    <message>
        <source>Every rank begins with the same copy of all parameters.</source>
        <translation>Jeder Rang beginnt mit derselben Kopie aller Parameter.</translation>
    </message>
    <message>
        <source>Own data</source>
        <translation>Eigene Daten</translation>
    </message>
    <message>
        <source>The batch is split: each rank gets %1 of the %2 sequences.</source>
        <translation>Der Batch wird aufgeteilt: Jeder Rang bekommt %1 der %2 Sequenzen.</translation>
    </message>
    <message>
        <source>Own gradients</source>
        <translation>Eigene Gradienten</translation>
    </message>
    <message>
        <source>Forward and backward of its own sequences: own loss, own gradients.</source>
        <translation>Vorwärts und rückwärts mit eigenen Sequenzen: eigener Verlust, eigene Gradienten.</translation>
    </message>
    <message>
        <source>All-reduce</source>
        <translation>All-Reduce</translation>
    </message>
    <message>
        <source>The gradients of all ranks are added up; every rank gets the sum.</source>
        <translation>Die Gradienten aller Ränge werden summiert; jeder Rang bekommt die Summe.</translation>
    </message>
    <message>
        <source>Same update</source>
        <translation>Gleiches Update</translation>
    </message>
    <message>
        <source>Every rank updates its copy with the same sums.</source>
        <translation>Jeder Rang ändert seine Kopie mit denselben Summen.</translation>
    </message>
    <message>
        <source>Run shows the losses, norms and fingerprints of the ranks.</source>
        <translation>Starten zeigt Verluste, Normen und Fingerabdrücke der Ränge.</translation>
    </message>
    <message>
        <source>norm of its own gradients: %1</source>
        <translation>Norm seiner eigenen Gradienten: %1</translation>
    </message>
    <message>
        <source>norm of the gradients that it updates with, added up: %1</source>
        <translation>Norm der summierten Gradienten seines Updates: %1</translation>
    </message>
    <message>
        <source>norm of all gradients, added up: %1</source>
        <translation>Norm aller Gradienten, summiert: %1</translation>
    </message>
    <message>
        <source>Step %1 of %2: %3</source>
        <translation>Schritt %1 von %2: %3</translation>
    </message>
    <message>
        <source>E: the next of the five steps.</source>
        <translation>E: der nächste der fünf Schritte.</translation>
    </message>
    <message>
        <source>Own shards</source>
        <translation>Eigene Teile</translation>
    </message>
    <message>
        <source>Every rank keeps 1 ÷ %1 of the parameters, gradients and optimizer state, and nothing else.</source>
        <translation>Jeder Rang behält 1 ÷ %1 der Parameter, Gradienten und des Optimierers, und sonst nichts.</translation>
    </message>
    <message>
        <source>Gather, compute, free</source>
        <translation>Sammeln, freigeben</translation>
    </message>
    <message>
        <source>An all-gather brings a layer&apos;s parameters to every rank, for the forward of its own sequences; then they are freed.</source>
        <translation>Ein All-Gather bringt jedem Rang die Parameter einer Schicht; nach ihrem Vorwärtslauf werden sie frei.</translation>
    </message>
    <message>
        <source>Gather again</source>
        <translation>Noch einmal sammeln</translation>
    </message>
    <message>
        <source>The backward needs each layer once more: it is gathered again.</source>
        <translation>Der Rückwärtslauf braucht jede Schicht noch einmal: Sie wird wieder gesammelt.</translation>
    </message>
    <message>
        <source>The backward uses what the forward gathered, and frees it.</source>
        <translation>Der Rückwärtslauf benutzt, was der Vorwärtslauf gesammelt hat, und gibt es frei.</translation>
    </message>
    <message>
        <source>Use again</source>
        <translation>Noch einmal benutzen</translation>
    </message>
    <message>
        <source>Reduce-scatter</source>
        <translation>Reduce-Scatter</translation>
    </message>
    <message>
        <source>A layer&apos;s gradients are added up; each rank gets the sum of its shard.</source>
        <translation>Die Gradienten einer Schicht werden addiert; jeder Rang bekommt die Summe seines Teils.</translation>
    </message>
    <message>
        <source>Own update</source>
        <translation>Eigene Aktualisierung</translation>
    </message>
    <message>
        <source>Every rank updates its own shard; no parameters are sent.</source>
        <translation>Jeder Rang aktualisiert seinen Teil; Parameter werden nicht gesendet.</translation>
    </message>
</context>
<context>
    <name>parallelarium::HoldersPane</name>
    <message>
        <source>Who holds what</source>
        <translation>Wer hält was</translation>
    </message>
    <message>
        <source>DP 4</source>
        <translation>DP 4</translation>
    </message>
    <message>
        <source>Next change of who holds what</source>
        <translation>Nächste Änderung: wer hält was</translation>
    </message>
    <message>
        <source>Previous change of who holds what</source>
        <translation>Vorige Änderung: wer hält was</translation>
    </message>
    <message>
        <source>After the forward, after the backward, in the update</source>
        <translation>Nach dem Vorwärtslauf, nach dem Rückwärtslauf, im Update</translation>
    </message>
    <message>
        <source>The ranks that are not shown</source>
        <translation>Die Ränge, die nicht zu sehen sind</translation>
    </message>
    <message>
        <source>Nothing changes any more in this step.</source>
        <translation>In diesem Schritt ändert sich nichts mehr.</translation>
    </message>
    <message>
        <source>Nothing has changed before in this step.</source>
        <translation>In diesem Schritt hat sich vorher nichts geändert.</translation>
    </message>
    <message>
        <source>Shown: %1 to %2</source>
        <translation>Gezeigt: %1 bis %2</translation>
    </message>
    <message>
        <source>The next of the five steps of data parallelism</source>
        <translation>Der nächste der fünf Schritte der Datenparallelität</translation>
    </message>
</context>
<context>
    <name>SearchView</name>
    <message>
        <source>The best %1 by %2</source>
        <translation>Die besten %1 nach %2</translation>
    </message>
    <message>
        <source>tokens per GPU</source>
        <translation>Token je GPU</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Of plans with PP 1 that differ in the schedule alone the fastest stands here.</source>
        <translation>Von Plänen mit PP 1, die sich nur im Ablauf unterscheiden, steht der schnellste hier.</translation>
    </message>
    <message>
        <source>Opens this one in Explore: %1</source>
        <translation>Öffnet diesen in Erkunden: %1</translation>
    </message>
    <message>
        <source>%1 GPUs, %2</source>
        <translation>%1 GPUs, %2</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>limited by: %1</source>
        <translation>begrenzt durch: %1</translation>
    </message>
    <message>
        <source>fastest</source>
        <translation>am schnellsten</translation>
    </message>
    <message>
        <source>least memory of the ties</source>
        <translation>gleichauf am kleinsten</translation>
    </message>
    <message>
        <source>simplest</source>
        <translation>am einfachsten</translation>
    </message>
    <message>
        <source>%1: %2, step %3, %4; %5.</source>
        <translation>%1: %2, Schritt %3, %4; %5.</translation>
    </message>
    <message>
        <source>%1 tokens a step</source>
        <translation>%1 Token je Schritt</translation>
    </message>
    <message>
        <source>How should %1 be trained on %2 of %3?</source>
        <translation>Wie soll %1 auf %2 von %3 trainiert werden?</translation>
    </message>
    <message>
        <source>one GPU</source>
        <translation>einer GPU</translation>
    </message>
    <message>
        <source>%1 GPUs</source>
        <translation>%1 GPUs</translation>
    </message>
    <message>
        <source>no pipeline</source>
        <translation>keine Pipeline</translation>
    </message>
    <message>
        <source>interleaved, %1</source>
        <translation>verschachtelt, %1</translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation>Mikro-Batch %1</translation>
    </message>
    <message>
        <source>recompute %1</source>
        <translation>Neuberechnung: %1</translation>
    </message>
    <message>
        <source>are refused</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>do not fit</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>Searching: %1.</source>
        <translation>Suche: %1.</translation>
    </message>
    <message>
        <source>Not searched yet: press Search.</source>
        <translation>Noch nicht gesucht: Suchen drücken.</translation>
    </message>
    <message>
        <source>%1 candidates.</source>
        <translation>%1 Kandidaten.</translation>
    </message>
    <message>
        <source>None fits. %1 comes nearest: it has %2 or more too much on one GPU.</source>
        <translation>Keiner passt. %1 kommt am nächsten: Auf einer GPU sind es %2 oder mehr zu viel.</translation>
    </message>
    <message>
        <source>, tie</source>
        <translation>, gleichauf</translation>
    </message>
    <message>
        <source>Selected: %1.</source>
        <translation>Gewählt: %1.</translation>
    </message>
    <message>
        <source>none fits</source>
        <translation>keiner passt</translation>
    </message>
    <message>
        <source>none selected</source>
        <translation>keiner gewählt</translation>
    </message>
    <message>
        <source>not searched yet</source>
        <translation>noch nicht gesucht</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>Schrittdauer</translation>
    </message>
    <message>
        <source>Memory, stage %1</source>
        <translation>Speicher, Stufe %1</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Bubble without communication</source>
        <translation>Blase ohne Kommunikation</translation>
    </message>
    <message>
        <source>How few remain</source>
        <translation>Wie wenige bleiben</translation>
    </message>
    <message>
        <source>candidates</source>
        <translation>Kandidaten</translation>
    </message>
    <message>
        <source>are valid</source>
        <translation>gültig</translation>
    </message>
    <message>
        <source>may fit</source>
        <translation>passen evtl.</translation>
    </message>
    <message>
        <source>How each candidate ends</source>
        <translation>Wie jeder Kandidat endet</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>A rule of the settings forbids it.</source>
        <translation>Eine Regel der Einstellungen verbietet ihn.</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>A stage needs more memory than may be used.</source>
        <translation>Eine Stufe braucht mehr Speicher, als belegt werden darf.</translation>
    </message>
    <message>
        <source>By a lower bound that is proved it takes no less time and memory than a plan that was simulated; or it is none of the fastest, and too long to be simulated for its memory alone. It may tie with the plans that are listed, but is not faster.</source>
        <translation>Nach einer bewiesenen unteren Schranke braucht er nicht weniger Zeit und Speicher als ein simulierter Plan; oder er gehört nicht zu den schnellsten und ist zu lang, um nur seines Speichers wegen simuliert zu werden. Er mag mit den gezeigten Plänen gleichauf liegen, ist aber nicht schneller.</translation>
    </message>
    <message>
        <source>It is predicted op by op, as in Explore. The fastest is found for certain.</source>
        <translation>Er wird Op für Op vorhergesagt, wie unter Erkunden. Der schnellste wird sicher gefunden.</translation>
    </message>
    <message>
        <source>None fits</source>
        <translation>Keiner passt</translation>
    </message>
    <message>
        <source>%1 comes nearest: it has %2 or more too much on one GPU.</source>
        <translation>%1 kommt am nächsten: Auf einer GPU sind es %2 oder mehr zu viel.</translation>
    </message>
    <message>
        <source>A higher limit of memory, more GPUs, a shorter sequence or free axes would help.</source>
        <translation>Eine höhere Speichergrenze, mehr GPUs, eine kürzere Sequenz oder freie Achsen würden helfen.</translation>
    </message>
    <message>
        <source>More GPUs, a shorter sequence or free axes would help.</source>
        <translation>Mehr GPUs, eine kürzere Sequenz oder freie Achsen würden helfen.</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>Sekunden</translation>
    </message>
    <message>
        <source>GiB on the fullest GPU</source>
        <translation>GiB auf der vollsten GPU</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
    <message>
        <source>selected</source>
        <translation>gewählt</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Ablaufplan</translation>
    </message>
    <message>
        <source>micro</source>
        <translation>Mikro</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neuber.</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>The search was cancelled: this is the best found so far. %1 candidates are not decided, and a better one may be among them.</source>
        <translation>Die Suche wurde abgebrochen: Dies ist das Beste, was bis dahin gefunden wurde. %1 Kandidaten sind nicht entschieden, und ein besserer kann darunter sein.</translation>
    </message>
    <message>
        <source>ZeRO %1 in groups of %2</source>
        <translation>ZeRO %1 in Gruppen von %2</translation>
    </message>
    <message>
        <source>layers of the stages: %1</source>
        <translation>Schichten der Stufen: %1</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>today</source>
        <translation>heute</translation>
    </message>
    <message>
        <source>Today: %1.</source>
        <translation>Heute: %1.</translation>
    </message>
    <message>
        <source>No single change makes it faster.</source>
        <translation>Keine einzelne Änderung macht es schneller.</translation>
    </message>
    <message>
        <source>No change of one axis would make it fit.</source>
        <translation>Keine Änderung einer einzelnen Achse würde es passend machen.</translation>
    </message>
    <message>
        <source>the best</source>
        <translation>der beste</translation>
    </message>
    <message>
        <source>How should %1 be trained with %4 on %2 of %3?</source>
        <translation>Wie soll %1 mit %4 auf %2 von %3 trainiert werden?</translation>
    </message>
    <message>
        <source>Among ties the least memory stands first.</source>
        <translation>Unter Gleichauf-Liegenden steht der kleinste Speicher zuerst.</translation>
    </message>
    <message>
        <source>fullest stage</source>
        <translation>vollste Stufe</translation>
    </message>
    <message>
        <source>The limit is %1. The keys left and right move it by a GiB.</source>
        <translation>Die Grenze ist %1. Die Tasten links und rechts verschieben sie um ein GiB.</translation>
    </message>
    <message>
        <source>%1: %2 today, %3 with the best plan.</source>
        <translation>%1: heute %2, mit dem besten Plan %3.</translation>
    </message>
    <message>
        <source>Of the plan that is selected in Search: %1.</source>
        <translation>Vom Plan, der unter Suchen ausgewählt ist: %1.</translation>
    </message>
    <message>
        <source>Of what is set in Explore: %1.</source>
        <translation>Von dem, was unter Erkunden eingestellt ist: %1.</translation>
    </message>
    <message>
        <source>Show what is set</source>
        <translation>Einstellung zeigen</translation>
    </message>
    <message>
        <source>Show the selected plan</source>
        <translation>Ausgewählten Plan zeigen</translation>
    </message>
    <message>
        <source>MFU, full</source>
        <translation>MFU, voll</translation>
    </message>
    <message>
        <source>Why not %1: %2</source>
        <translation>Warum nicht %1: %2</translation>
    </message>
    <message>
        <source>step %1, %2, MFU %3 (attention in full)</source>
        <translation>Schritt %1, %2, MFU %3 (Attention voll)</translation>
    </message>
    <message>
        <source>Today: %1</source>
        <translation>Heute: %1</translation>
    </message>
    <message>
        <source>Of what is trained today: %1.</source>
        <translation>Von dem, was heute trainiert wird: %1.</translation>
    </message>
    <message>
        <source>MFU, attention in full</source>
        <translation>MFU, Attention voll</translation>
    </message>
    <message>
        <source>causal %1, 6N %2</source>
        <translation>kausal %1, 6N %2</translation>
    </message>
    <message>
        <source>MFU counts attention in full, masked scores too.</source>
        <translation>MFU zählt Attention voll, auch maskierte Werte.</translation>
    </message>
    <message>
        <source>Simulated, and not kept by the search</source>
        <translation>Simuliert, und von der Suche nicht behalten</translation>
    </message>
    <message>
        <source>memory of the fullest GPU</source>
        <translation>Speicher der vollsten GPU</translation>
    </message>
    <message>
        <source>longer than the best by</source>
        <translation>länger als der beste um</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>the limit is %1</source>
        <translation>die Grenze ist %1</translation>
    </message>
    <message>
        <source>its settings</source>
        <translation>seine Einstellungen</translation>
    </message>
    <message>
        <source>are not told: the search keeps the best plans and the Pareto front. To come to another one fix an axis, or ask “Why not …”.</source>
        <translation>sind nicht bekannt: Die Suche behält die besten Pläne und die Pareto-Front. Zu einem anderen kommst du, wenn du eine Achse festlegst oder „Warum nicht …“ fragst.</translation>
    </message>
    <message>
        <source>on others</source>
        <translation>auf anderen</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>even</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>order</source>
        <translation>Folge</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>Rules of thumb beside the search</source>
        <translation>Faustregeln neben der Suche</translation>
    </message>
    <message>
        <source>%1, tie</source>
        <translation>%1, gleichauf</translation>
    </message>
    <message>
        <source>%1 It is a tie.</source>
        <translation>%1 Das liegt gleichauf.</translation>
    </message>
    <message>
        <source>Selects %1</source>
        <translation>Wählt %1</translation>
    </message>
    <message>
        <source>simpler</source>
        <translation>einfacher</translation>
    </message>
    <message>
        <source>less memory</source>
        <translation>weniger Speicher</translation>
    </message>
    <message>
        <source>Of the plan that is selected in Search, the fastest with a step of %1: %2.</source>
        <translation>Vom Plan, der unter Suchen ausgewählt ist, dem schnellsten mit einem Schritt von %1: %2.</translation>
    </message>
    <message>
        <source>Of the plan that is selected in Search, whose step takes %1, %2 longer than the fastest plan's: %3.</source>
        <translation>Vom Plan, der unter Suchen ausgewählt ist und dessen Schritt %1 dauert, %2 länger als der des schnellsten Plans: %3.</translation>
    </message>
    <message>
        <source>ruled out</source>
        <translation>ausgeschlossen</translation>
    </message>
    <message>
        <source>Steps less than %1 apart are ties.</source>
        <translation>Schritte, die weniger als %1 auseinanderliegen, sind gleichauf.</translation>
    </message>
    <message>
        <source>Pareto front: none is faster and smaller</source>
        <translation>Pareto-Front: keiner ist schneller und kleiner</translation>
    </message>
    <message>
        <source>Pareto front up to %1 GPUs</source>
        <translation>Pareto-Front bis %1 GPUs</translation>
    </message>
    <message>
        <source>Pareto front</source>
        <translation>Pareto-Front</translation>
    </message>
    <message>
        <source>MFU = FLOPs of the model / (step time × GPUs × peak FLOP/s)</source>
        <translation>MFU = FLOPs des Modells / (Schrittdauer × GPUs × Spitzen-FLOP/s)</translation>
    </message>
    <message>
        <source>The memory is the most bytes that a rank of the fullest stage holds at once.</source>
        <translation>Der Speicher sind die meisten Bytes, die ein Rang der vollsten Stufe zugleich hält.</translation>
    </message>
    <message>
        <source>Bubble here = share of the step in which ranks neither compute nor communicate, mean of ranks. With computing and exposed communication it is the whole step; the bubble of a setup in Explore also has what they communicate meanwhile.</source>
        <translation>Blase heißt hier: Anteil des Schritts, in dem Ränge weder rechnen noch kommunizieren, im Mittel der Ränge. Mit Rechnen und freiliegender Kommunikation ist das der ganze Schritt; die Blase einer Einstellung unter Erkunden enthält auch, was sie dabei kommunizieren.</translation>
    </message>
    <message>
        <source>Exposed is the time in which a rank communicates and computes nothing.</source>
        <translation>Unverdeckt ist die Zeit, in der ein Rang kommuniziert und nichts rechnet.</translation>
    </message>
    <message>
        <source>The step time is from the first op of the step to the end of its last, on all ranks.</source>
        <translation>Die Schrittdauer geht vom ersten Vorgang des Schritts bis zum Ende der letzten, auf allen Rängen.</translation>
    </message>
    <message>
        <source>No plan yet: what is found stands here.</source>
        <translation>Noch kein Plan: Was gefunden wird, steht hier.</translation>
    </message>
    <message>
        <source>limited by</source>
        <translation>begrenzt durch</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Token je Sekunde</translation>
    </message>
    <message>
        <source>MFU, attention causal</source>
        <translation>MFU, Attention kausal</translation>
    </message>
    <message>
        <source>MFU, 6N: no attention</source>
        <translation>MFU, 6N: ohne Attention</translation>
    </message>
    <message>
        <source>bubble without communication</source>
        <translation>Blase ohne Kommunikation</translation>
    </message>
    <message>
        <source>launch line</source>
        <translation>Startzeile</translation>
    </message>
    <message>
        <source>exposed communication of %1, mean of ranks</source>
        <translation>unverdeckte Kommunikation von %1, Mittel der Ränge</translation>
    </message>
    <message>
        <source>communication stands on</source>
        <translation>Kommunikation beruht auf</translation>
    </message>
    <message>
        <source>memory, stage %1</source>
        <translation>Speicher, Stufe %1</translation>
    </message>
    <message>
        <source>limit of a GPU</source>
        <translation>Grenze einer GPU</translation>
    </message>
    <message>
        <source>beside it: a framework&apos;s own</source>
        <translation>daneben: Eigenes eines Frameworks</translation>
    </message>
    <message>
        <source>exposed comm.</source>
        <translation>unverd. Komm.</translation>
    </message>
    <message>
        <source>Pareto</source>
        <translation>Pareto</translation>
    </message>
    <message>
        <source>The fastest %1</source>
        <translation>Die schnellsten %1</translation>
    </message>
    <message>
        <source>1 fastest</source>
        <translation>1 schnellster</translation>
    </message>
    <message>
        <source>Exposed communication is the time in which a rank communicates and computes nothing, as the mean of the ranks. A dot under Pareto: no plan is faster and needs less memory.</source>
        <translation>Unverdeckte Kommunikation ist die Zeit, in der ein Rang kommuniziert und nichts rechnet, im Mittel der Ränge. Ein Punkt unter Pareto: Kein Plan ist schneller und braucht weniger Speicher.</translation>
    </message>
    <message>
        <source>The search under way is of other settings: cancel it, and search again.</source>
        <translation>Die laufende Suche ist von anderen Einstellungen: Brich sie ab, und suche noch einmal.</translation>
    </message>
    <message>
        <source>Until the search ends, the answer below is of other settings.</source>
        <translation>Bis die Suche endet, ist die Antwort darunter von anderen Einstellungen.</translation>
    </message>
    <message>
        <source>The answer below is of other settings: search again.</source>
        <translation>Die Antwort unten gehört zu anderen Einstellungen: erneut suchen.</translation>
    </message>
    <message>
        <source>More memory may be used than was searched: search again for the plans that it allows.</source>
        <translation>Es darf mehr Speicher belegt werden, als gesucht wurde: Suche noch einmal, um auch diese Pläne zu finden.</translation>
    </message>
    <message>
        <source>%1; GPUs: %2; on %3</source>
        <translation>%1; GPUs: %2; auf %3</translation>
    </message>
    <message>
        <source>nearest to today</source>
        <translation>dem Heutigen am nächsten</translation>
    </message>
    <message>
        <source>Searching for the best plan with it …</source>
        <translation>Der beste Plan damit wird gesucht …</translation>
    </message>
    <message>
        <source>%1: step %2, %3, MFU (attention in full) %4, bubble %5, exposed communication %6%7.</source>
        <translation>%1: Schritt %2, %3, MFU (Attention voll) %4, Blase %5, unverdeckte Kommunikation %6%7.</translation>
    </message>
    <message>
        <source>Exposed, mean of ranks</source>
        <translation>Unverdeckt, Mittel</translation>
    </message>
    <message>
        <source>%1 plans are less than %2 behind the fastest and share rank 1, the smallest first.</source>
        <translation>%1 Pläne liegen weniger als %2 hinter dem schnellsten und teilen sich Rang 1, der kleinste zuerst.</translation>
    </message>
    <message>
        <source> One more that was simulated is as close; it is a dot of the plot.</source>
        <translation> Ein weiterer simulierter ist ebenso nah; er ist ein Punkt im Bild.</translation>
    </message>
    <message>
        <source> %1 more that were simulated are as close; they are dots of the plot.</source>
        <translation> %1 weitere simulierte sind ebenso nah; sie sind Punkte im Bild.</translation>
    </message>
    <message>
        <source>can be selected</source>
        <translation>wählbar</translation>
    </message>
    <message>
        <source>Search: plans (CSV)</source>
        <translation>Suche: Pläne (CSV)</translation>
    </message>
    <message>
        <source>%1; open this one in Explore ▸</source>
        <translation>%1; diesen in „Erkunden“ öffnen ▸</translation>
    </message>
    <message>
        <source>for example: %1</source>
        <translation>zum Beispiel: %1</translation>
    </message>
    <message>
        <source>Step time in seconds over memory</source>
        <translation>Schrittdauer in Sekunden über Speicher</translation>
    </message>
    <message>
        <source>Of other settings: %1</source>
        <translation>Von anderen Einstellungen: %1</translation>
    </message>
    <message>
        <source>The fastest %1, ties by memory</source>
        <translation>Die schnellsten %1, gleichauf nach Speicher</translation>
    </message>
    <message>
        <source>“Published runs …” has the errors on other machines.</source>
        <translation>„Veröffentlichte Läufe …“ nennt die Fehler auf anderen Maschinen.</translation>
    </message>
    <message>
        <source>Beside the selected plan: %1</source>
        <translation>Neben dem gewählten Plan: %1</translation>
    </message>
    <message>
        <source>These plans of the search with %1 fit into %2. No plan that fits is faster than the fastest of them; slower ones may be missing. Search again to find them all.</source>
        <translation>Diese Pläne der Suche mit %1 passen in %2. Kein passender Plan ist schneller als der schnellste von ihnen; langsamere können fehlen. Suche erneut, um alle zu finden.</translation>
    </message>
    <message>
        <source>The plan that you selected needs %1 and does not fit: the fastest is selected in its place.</source>
        <translation>Der gewählte Plan braucht %1 und passt nicht: An seiner Stelle ist der schnellste gewählt.</translation>
    </message>
    <message>
        <source>How few remain with %1</source>
        <translation>Wie wenige mit %1 bleiben</translation>
    </message>
    <message>
        <source>It is a plan of other settings: search again.</source>
        <translation>Es ist ein Plan anderer Einstellungen: Suche noch einmal.</translation>
    </message>
    <message>
        <source>of other settings</source>
        <translation>von anderen Einstellungen</translation>
    </message>
    <message>
        <source>ranks by %1</source>
        <translation>Ränge nach %1</translation>
    </message>
    <message>
        <source>The plans are of other settings: search again.</source>
        <translation>Die Pläne gelten für andere Einstellungen: Suche noch einmal.</translation>
    </message>
    <message>
        <source>Published runs of %1 … ▸</source>
        <translation>Veröffentlichte Läufe von %1 … ▸</translation>
    </message>
    <message>
        <source>%1 days, %2 GPU hours</source>
        <translation>%1 Tage, %2 GPU-Stunden</translation>
    </message>
    <message>
        <source>%1; cost: %2 at %3 an hour</source>
        <translation>%1; Kosten: %2 bei %3 je Stunde</translation>
    </message>
    <message>
        <source>%1 tokens take</source>
        <translation>%1 Token brauchen</translation>
    </message>
    <message>
        <source>published of this model</source>
        <translation>zu diesem Modell veröffentlicht</translation>
    </message>
    <message>
        <source>%1: a rank has %2 chunks of layers.</source>
        <translation>%1: Ein Rang hat %2 Stücke aus Schichten.</translation>
    </message>
    <message>
        <source>ZeRO %1: ZeRO %2 in groups of %3 ranks.</source>
        <translation>ZeRO %1: ZeRO %2 in Gruppen von %3 Rängen.</translation>
    </message>
    <message>
        <source>%1 (%2 stages)</source>
        <translation>%1 (%2 Stufen)</translation>
    </message>
    <message>
        <source>interleaved in %1 chunks</source>
        <translation>verschachtelt in %1 Stücken</translation>
    </message>
    <message>
        <source>No single change makes its fullest rank need less.</source>
        <translation>Keine einzelne Änderung lässt den vollsten Rang weniger brauchen.</translation>
    </message>
    <message>
        <source>least memory</source>
        <translation>kleinster Speicher</translation>
    </message>
    <message>
        <source>fewest GPUs</source>
        <translation>wenigste GPUs</translation>
    </message>
    <message>
        <source>most tokens per GPU</source>
        <translation>meiste Tokens je GPU</translation>
    </message>
    <message>
        <source>fastest usual way</source>
        <translation>schnellster üblicher Weg</translation>
    </message>
</context>
<context>
    <name>parallelarium::SearchView</name>
    <message>
        <source>Why it is the best</source>
        <translation>Warum er der beste ist</translation>
    </message>
    <message>
        <source>Beside the best</source>
        <translation>Neben dem besten</translation>
    </message>
    <message>
        <source>Searching …</source>
        <translation>Suche läuft …</translation>
    </message>
    <message>
        <source>Not searched yet. Search tries every combination of the free axes that makes the GPUs and the batch, and says of each why it is not the best. On more than 16 GPUs, CP is tried only where it leaves enough tokens on a rank.</source>
        <translation>Noch nicht gesucht. Suchen probiert jede Kombination der freien Achsen, die GPUs und Batch ergibt, und sagt von jeder, warum sie nicht die beste ist. Auf mehr als 16 GPUs probiert es CP nur dort, wo es einem Rang genug Tokens lässt.</translation>
    </message>
    <message>
        <source>What one change would do</source>
        <translation>Was eine Änderung bewirkt</translation>
    </message>
    <message>
        <source>Why it is not the fastest</source>
        <translation>Warum er nicht der schnellste ist</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>&amp;Search view</source>
        <translation>&amp;Suche</translation>
    </message>
    <message>
        <source>In sea&amp;rch</source>
        <translation>In der S&amp;uche</translation>
    </message>
    <message>
        <source>Picture of the search</source>
        <translation>Bild der Suche</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Makes the selected plan the setup, and opens it in Explore</source>
        <translation>Macht den gewählten Plan zum Setup und öffnet ihn unter Erkunden</translation>
    </message>
    <message>
        <source>Change the search …</source>
        <translation>Suche ändern …</translation>
    </message>
    <message>
        <source>Try one change</source>
        <translation>Eine Änderung versuchen</translation>
    </message>
    <message>
        <source>Predicts every plan that differs from the selected one in one axis</source>
        <translation>Sagt jeden Plan vorher, der sich vom gewählten in einer Achse unterscheidet</translation>
    </message>
    <message>
        <source>&amp;Search</source>
        <translation>&amp;Suchen</translation>
    </message>
    <message>
        <source>&amp;Use the selected plan</source>
        <translation>Gewählten Plan &amp;übernehmen</translation>
    </message>
    <message>
        <source>&amp;Try one change of it</source>
        <translation>Eine Änderung an ihm &amp;versuchen</translation>
    </message>
    <message>
        <source>Cancel the &amp;search</source>
        <translation>&amp;Suche abbrechen</translation>
    </message>
    <message>
        <source>Which setup is best</source>
        <translation>Welche Einstellung die beste ist</translation>
    </message>
    <message>
        <source>Every way to place this model on these GPUs with this batch is refused, too large, ruled out or simulated, and the funnel counts them. A dot is a plan, with its step time and memory. Choose one to see what a single change would do, and **Use it** to open it in Explore.</source>
        <translation>Jede Art, dieses Modell mit diesem Batch auf diese GPUs zu legen, wird abgelehnt, ist zu groß, ausgeschlossen oder simuliert, und der Trichter zählt sie. Ein Punkt ist ein Plan mit Schrittdauer und Speicher. Wähle einen, um zu sehen, was eine einzelne Änderung täte, und mit **Übernehmen** öffnest du ihn in Erkunden.</translation>
    </message>
    <message>
        <source>Launch line …</source>
        <translation>Startzeile …</translation>
    </message>
    <message>
        <source>The selected plan as Megatron-LM, torchtitan, DeepSpeed and others say it</source>
        <translation>Der gewählte Plan, wie Megatron-LM, torchtitan, DeepSpeed und andere ihn sagen</translation>
    </message>
    <message>
        <source>&amp;Launch line of the selected plan …</source>
        <translation>&amp;Startzeile des gewählten Plans …</translation>
    </message>
    <message>
        <source>Why it is the fastest</source>
        <translation>Warum er der schnellste ist</translation>
    </message>
    <message>
        <source>Why not …</source>
        <translation>Warum nicht …</translation>
    </message>
    <message>
        <source>Choose a value of an axis: what the best plan with it is, and why it is not the best</source>
        <translation>Wähle einen Wert einer Achse: welcher Plan damit der beste ist, und warum er nicht der beste von allen ist</translation>
    </message>
    <message>
        <source>Search to see how far it is from the best plan.</source>
        <translation>Suche, um zu sehen, wie weit es vom besten Plan entfernt ist.</translation>
    </message>
    <message>
        <source>What one change of the selected plan would do stands beside the plot.</source>
        <translation>Was eine Änderung des gewählten Plans bewirkt, steht neben dem Diagramm.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Click a row or a dot to see its plan.</source>
        <translation>Klicke auf eine Zeile oder einen Punkt, um den Plan zu sehen.</translation>
    </message>
    <message>
        <source>It is being compared with the best plan …</source>
        <translation>Es wird mit dem besten Plan verglichen …</translation>
    </message>
</context>
<context>
    <name>parallelarium::SearchColumn</name>
    <message>
        <source>Objective</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>What the best plan has least of; of tokens for each GPU, the most</source>
        <translation>Wovon der beste Plan am wenigsten hat; von Token je GPU am meisten</translation>
    </message>
    <message>
        <source>What is searched</source>
        <translation>Was gesucht wird</translation>
    </message>
    <message>
        <source>Progress of the search</source>
        <translation>Fortschritt der Suche</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>Rechencluster</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>Exactly so many, or a range such as 8..64</source>
        <translation>Genau so viele, oder ein Bereich wie 8..64</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Sequences of a step</source>
        <translation>Sequenzen eines Schritts</translation>
    </message>
    <message>
        <source>Sequences</source>
        <translation>Sequenzen</translation>
    </message>
    <message>
        <source>Tokens of a sequence</source>
        <translation>Token einer Sequenz</translation>
    </message>
    <message>
        <source>Tokens each</source>
        <translation>Token je Sequenz</translation>
    </message>
    <message>
        <source>Memory of a GPU that may be used, in GiB</source>
        <translation>Speicher einer GPU, der belegt werden darf, in GiB</translation>
    </message>
    <message>
        <source>Memory, GiB</source>
        <translation>Speicher, GiB</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>Axes</source>
        <translation>Achsen</translation>
    </message>
    <message>
        <source>Tensor, TP</source>
        <translation>Tensor, TP</translation>
    </message>
    <message>
        <source>Pipeline, PP</source>
        <translation>Pipeline, PP</translation>
    </message>
    <message>
        <source>what is left</source>
        <translation>was übrig bleibt</translation>
    </message>
    <message>
        <source>Data, DP</source>
        <translation>Daten, DP</translation>
    </message>
    <message>
        <source>Context, CP</source>
        <translation>Kontext, CP</translation>
    </message>
    <message>
        <source>Experts, EP</source>
        <translation>Experten, EP</translation>
    </message>
    <message>
        <source>Experts cut, ETP</source>
        <translation>Geteilte Experten, ETP</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Ablaufplan</translation>
    </message>
    <message>
        <source>Chunks</source>
        <translation>Stücke</translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <translation>Mikro-Batch</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>Neuberechnung</translation>
    </message>
    <message>
        <source>SP</source>
        <translation>SP</translation>
    </message>
    <message>
        <source>%1 of %2 are free</source>
        <translation>%1 von %2 sind frei</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>ZeRO group</source>
        <translation>ZeRO-Gruppe</translation>
    </message>
    <message>
        <source>Stage layers</source>
        <translation>Schichten je Stufe</translation>
    </message>
    <message>
        <source>Rank order</source>
        <translation>Rangfolge</translation>
    </message>
    <message>
        <source>From a config.json …</source>
        <translation>Aus einer config.json …</translation>
    </message>
    <message>
        <source>The model&apos;s config.json</source>
        <translation>Die config.json des Modells</translation>
    </message>
    <message>
        <source>Configurations (*.json);;All files (*)</source>
        <translation>Konfigurationen (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Paste the launch line of what you train today, or type its degrees: the search says how far it is from the best, and what one change would do. Its steps, learning rate, clip and seed stay out of the plans</source>
        <translation>Füge die Startzeile dessen ein, was du heute trainierst, oder tippe seine Grade: Die Suche sagt, wie weit es vom Besten entfernt ist und was eine Änderung brächte. Seine Schritte, Lernrate, Clip und Seed bleiben aus den Plänen heraus</translation>
    </message>
    <message>
        <source>Forget it</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Custom model</source>
        <translation>Eigenes Modell</translation>
    </message>
    <message>
        <source>Nothing to compare with.</source>
        <translation>Noch nichts zum Vergleichen.</translation>
    </message>
    <message>
        <source>Change it …</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>I train already …</source>
        <translation>Ich trainiere schon …</translation>
    </message>
    <message>
        <source>From nvidia-smi topo -m …</source>
        <translation>Aus nvidia-smi topo -m …</translation>
    </message>
    <message>
        <source>Custom cluster</source>
        <translation>Eigenes Cluster</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>Grenzen</translation>
    </message>
    <message>
        <source>Framework</source>
        <translation>Framework der Startzeile</translation>
    </message>
    <message>
        <source>Only plans that this framework&apos;s launch line can say; others are refused with its sentence</source>
        <translation>Nur Pläne, die die Startzeile dieses Frameworks sagen kann; andere werden mit deren Satz abgelehnt</translation>
    </message>
    <message>
        <source>any</source>
        <translation>beliebig</translation>
    </message>
    <message>
        <source>Launch line of</source>
        <translation>Startzeile von</translation>
    </message>
    <message>
        <source>not for this model</source>
        <translation>nicht für dieses Modell</translation>
    </message>
    <message>
        <source>The model has no experts that EP could spread over ranks.</source>
        <translation>Das Modell hat keine Experten, die EP auf Ränge verteilen könnte.</translation>
    </message>
    <message>
        <source>The plans that were found stay. Where none were, model, GPUs, batch and axes are again what they were before it, except for what you set since</source>
        <translation>Die gefundenen Pläne bleiben. Wo keine gefunden wurden, sind Modell, GPUs, Batch und Achsen wieder, was sie davor waren, bis auf das, was du seither gesetzt hast</translation>
    </message>
    <message>
        <source>The limit is a number of GiB up to what a device has: %1.</source>
        <translation>Die Grenze ist eine Zahl von GiB bis zu dem, was ein Gerät hat: %1.</translation>
    </message>
    <message>
        <source>Free, or the values that candidates may have</source>
        <translation>Frei, oder die Werte, die Kandidaten haben dürfen</translation>
    </message>
    <message>
        <source>Several …</source>
        <translation>Mehrere …</translation>
    </message>
    <message>
        <source>Values that it may take, with commas between them:</source>
        <translation>Erlaubte Werte, mit Kommas dazwischen:</translation>
    </message>
    <message>
        <source>Enter in a number of this column searches, too</source>
        <translation>Enter in einer Zahl dieser Spalte sucht auch</translation>
    </message>
    <message>
        <source>Whole training</source>
        <translation>Ganzes Training</translation>
    </message>
    <message>
        <source>Tokens of a whole training</source>
        <translation>Token eines ganzen Trainings</translation>
    </message>
    <message>
        <source>Such as 300B or 15T: the selected plan says its days and GPU hours</source>
        <translation>Etwa 300B oder 15T: Der gewählte Plan sagt, wie viele Tage und GPU-Stunden das sind</translation>
    </message>
    <message>
        <source>Tokens in all</source>
        <translation>Token insgesamt</translation>
    </message>
    <message>
        <source>Price of a GPU hour</source>
        <translation>Preis je GPU-Stunde</translation>
    </message>
    <message>
        <source>In any currency: the selected plan says what the training costs</source>
        <translation>In beliebiger Währung: Der gewählte Plan sagt, was das Training kostet</translation>
    </message>
</context>
<context>
    <name>parallelarium::PlanSearch</name>
    <message>
        <source>The engine is busy with a run or a calibration.</source>
        <translation>Die Engine ist mit einem Lauf oder einer Kalibrierung beschäftigt.</translation>
    </message>
    <message>
        <source>The plan of the search</source>
        <translation>Der Plan der Suche</translation>
    </message>
    <message>
        <source>An example of the search</source>
        <translation>Ein Beispiel aus der Suche</translation>
    </message>
</context>
<context>
    <name>layer</name>
    <message>
        <source>filled as far as done</source>
        <translation>gefüllt, soweit getan</translation>
    </message>
    <message>
        <source>tokens to or from the ranks of these colours</source>
        <translation>Token zu oder von den Rängen dieser Farben</translation>
    </message>
    <message>
        <source>now, filled as far as done</source>
        <translation>jetzt, gefüllt, soweit getan</translation>
    </message>
    <message>
        <source>K, V on their way, for step 2</source>
        <translation>K, V unterwegs, für Schritt 2</translation>
    </message>
    <message>
        <source>%1 on every link for each further step: keys and values of one rank, which may run ahead of it. Ranks wait (hatched below) where their blocks take less time than that.</source>
        <translation>%1 auf jeder Verbindung für jeden weiteren Schritt: Schlüssel und Werte eines Rangs, die ihm vorauseilen können. Ränge warten (unten schraffiert), wo ihre Blöcke weniger Zeit brauchen.</translation>
    </message>
    <message>
        <source>gradients of K, V after ring step %1</source>
        <translation>Gradienten von K, V nach Ring-Schritt %1</translation>
    </message>
    <message>
        <source>K, V for ring step %1</source>
        <translation>K, V für Ring-Schritt %1</translation>
    </message>
    <message>
        <source>gradients of keys and values</source>
        <translation>Gradienten von Schlüsseln und Werten</translation>
    </message>
    <message>
        <source>heads %1</source>
        <translation>Köpfe %1</translation>
    </message>
    <message>
        <source>columns %1</source>
        <translation>Spalten %1</translation>
    </message>
    <message>
        <source>rows %1</source>
        <translation>Zeilen %1</translation>
    </message>
    <message>
        <source>rank %1 %2</source>
        <translation>Rang %1 %2</translation>
    </message>
    <message>
        <source>the partial sums of ranks %1 become a copy on each</source>
        <translation>aus den Teilsummen der Ränge %1 wird eine Kopie auf jedem</translation>
    </message>
    <message>
        <source>the partial sums of ranks %1 become a shard on each</source>
        <translation>aus den Teilsummen der Ränge %1 wird ein Teil auf jedem</translation>
    </message>
    <message>
        <source>the shards of ranks %1 become a copy on each</source>
        <translation>aus den Teilen der Ränge %1 wird eine Kopie auf jedem</translation>
    </message>
    <message>
        <source>ranks %1 exchange parts of their shards</source>
        <translation>die Ränge %1 tauschen Stücke ihrer Teile</translation>
    </message>
    <message>
        <source>%1 sent by rank %2</source>
        <translation>%1 von Rang %2 gesendet</translation>
    </message>
    <message>
        <source>Shapes are those of rank %1.</source>
        <translation>Formen sind die von Rang %1.</translation>
    </message>
    <message>
        <source>%1, ring step %2</source>
        <translation>%1, Ring-Schritt %2</translation>
    </message>
    <message>
        <source>to rank %1</source>
        <translation>an Rang %1</translation>
    </message>
    <message>
        <source>comes</source>
        <translation>kommt</translation>
    </message>
    <message>
        <source>goes</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>expert %1: %2 of %3</source>
        <translation>Experte %1: %2 von %3</translation>
    </message>
    <message>
        <source>Dashed: what all homes together may send an expert, and what it drops.</source>
        <translation>Gestrichelt: was alle Heimatränge zusammen einem Experten senden dürfen, und was er verwirft.</translation>
    </message>
    <message>
        <source>dropped here</source>
        <translation>hier verworfen</translation>
    </message>
    <message>
        <source>K, V →</source>
        <translation>K, V →</translation>
    </message>
    <message>
        <source>queries, keys and values stay on the rank of their tokens</source>
        <translation>Anfragen, Schlüssel und Werte bleiben auf dem Rang ihrer Token</translation>
    </message>
    <message>
        <source>Nothing is exchanged: queries meet the keys of their own rank alone. That is another function than attention over all tokens, so “Prove it” refuses it.</source>
        <translation>Nichts wird ausgetauscht: Anfragen treffen nur auf die Schlüssel ihres eigenen Rangs. Das ist eine andere Funktion als Attention über alle Token; „Beweisen“ weist sie deshalb zurück.</translation>
    </message>
    <message>
        <source>zigzag</source>
        <translation>Zickzack</translation>
    </message>
    <message>
        <source>contiguous</source>
        <translation>zusammenhängend</translation>
    </message>
    <message>
        <source>the same as on rank %1</source>
        <translation>dasselbe wie auf Rang %1</translation>
    </message>
    <message>
        <source>the same as on ranks %1</source>
        <translation>dasselbe wie auf den Rängen %1</translation>
    </message>
    <message>
        <source>shard and copy</source>
        <translation>Teil und Kopie</translation>
    </message>
    <message>
        <source>heads that share keys and values</source>
        <translation>Köpfe, die sich Schlüssel und Werte teilen</translation>
    </message>
    <message>
        <source>latent attention</source>
        <translation>latente Attention</translation>
    </message>
    <message>
        <source>an MLP that is not four times as wide</source>
        <translation>ein MLP, das nicht viermal so breit ist</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>The paper's terms (34 s b h) are of another layer; this one has %1.</source>
        <translation>Die Terme des Papers (34 s b h) gelten für eine andere Schicht; diese hat %1.</translation>
    </message>
    <message>
        <source>terms in 2-byte numbers; here %1 bytes each, %2 times that</source>
        <translation>Terme in 2-Byte-Zahlen; hier je %1 Byte, das %2-Fache</translation>
    </message>
    <message>
        <source>, but not masks</source>
        <translation>, außer bei Masken</translation>
    </message>
    <message>
        <source>KEPT FOR THE BACKWARD · one layer, one micro-batch, rank %1</source>
        <translation>FÜR RÜCKWÄRTS BEHALTEN · eine Schicht, ein Mikro-Batch, Rang %1</translation>
    </message>
    <message>
        <source>by piece</source>
        <translation>je Teil</translation>
    </message>
    <message>
        <source>Kept for the backward by rank %1: %2, together %3.</source>
        <translation>Für rückwärts behält Rang %1: %2, zusammen %3.</translation>
    </message>
    <message>
        <source>max</source>
        <comment>number of each token</comment>
        <translation>Max</translation>
    </message>
    <message>
        <source>sum</source>
        <comment>number of each token</comment>
        <translation>Summe</translation>
    </message>
    <message>
        <source>target</source>
        <comment>number of each token</comment>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>Matrices are to one scale.</source>
        <translation>Matrizen haben denselben Maßstab.</translation>
    </message>
    <message>
        <source>Widths are to one scale, tokens to another.</source>
        <translation>Breiten haben einen Maßstab, Token einen anderen.</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>Kopie</translation>
    </message>
    <message>
        <source>weight</source>
        <translation>Gewicht</translation>
    </message>
    <message>
        <source>activation</source>
        <translation>Aktivierung</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>Gradient</translation>
    </message>
    <message>
        <source>shard, edge of its rank</source>
        <translation>Teil, Rand seines Rangs</translation>
    </message>
    <message>
        <source>partial sum</source>
        <translation>Teilsumme</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <source>nothing sent</source>
        <translation>nichts gesendet</translation>
    </message>
    <message>
        <source>still to come</source>
        <translation>kommt noch</translation>
    </message>
    <message>
        <source>absent</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>Layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation>Mikro-Batch %1</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>TP %1 with sequence parallel</source>
        <translation>TP %1 mit Sequenzparallelität</translation>
    </message>
    <message>
        <source>TP %1, sequence parallel off</source>
        <translation>TP %1, ohne Sequenzparallelität</translation>
    </message>
    <message>
        <source>With CP 1 every rank has all tokens of a sequence; set CP to 2 or more.</source>
        <translation>Mit CP 1 hat jeder Rang alle Token einer Sequenz; setze CP auf 2 oder mehr.</translation>
    </message>
    <message>
        <source>A program of this size is made of whole stages; its layers have no pieces.</source>
        <translation>Ein Programm dieser Größe besteht aus ganzen Stufen; seine Schichten haben keine Teile.</translation>
    </message>
    <message>
        <source>Nothing is split: one rank computes the whole layer.</source>
        <translation>Nichts ist geteilt: Ein Rang rechnet die ganze Schicht.</translation>
    </message>
    <message>
        <source>THE SAME IN TIME</source>
        <translation>DASSELBE IN DER ZEIT</translation>
    </message>
    <message>
        <source>tint: %1, %2</source>
        <translation>hell: %1, %2</translation>
    </message>
    <message>
        <source>solid: %1, %2</source>
        <translation>voll: %1, %2</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>head %1</source>
        <translation>Kopf %1</translation>
    </message>
    <message>
        <source>heads %1 to %2</source>
        <translation>Köpfe %1 bis %2</translation>
    </message>
    <message>
        <source>FLOP per byte</source>
        <translation>FLOP je Byte</translation>
    </message>
    <message>
        <source>sent</source>
        <translation>gesendet</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <source>ATTENTION</source>
        <translation>ATTENTION</translation>
    </message>
    <message>
        <source>EXPERTS</source>
        <translation>EXPERTEN</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>click to open</source>
        <translation>Klick öffnet</translation>
    </message>
    <message>
        <source>click to show</source>
        <translation>Klick zeigt sie</translation>
    </message>
    <message>
        <source>all ranks · click to fold</source>
        <translation>alle Ränge · Klick faltet</translation>
    </message>
    <message>
        <source>%1 of %2 ranks</source>
        <translation>%1 von %2 Rängen</translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks alike, with other shards</source>
        <translation>
            <numerusform>%n weiterer Rang, gleich, mit anderem Teil</numerusform>
            <numerusform>%n weitere Ränge, gleich, mit anderen Teilen</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>exchange</source>
        <translation>Austausch</translation>
    </message>
    <message>
        <source>%1 again</source>
        <translation>%1 noch einmal</translation>
    </message>
    <message>
        <source>shard</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>cut by columns</source>
        <translation>spaltenweise</translation>
    </message>
    <message>
        <source>cut by rows</source>
        <translation>zeilenweise</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>nothing sent:</source>
        <translation>nichts gesendet:</translation>
    </message>
    <message>
        <source>in the other direction an all-reduce stands here</source>
        <translation>in der anderen Richtung steht hier ein All-Reduce</translation>
    </message>
    <message>
        <source>shapes</source>
        <translation>Formen</translation>
    </message>
    <message>
        <source>bytes read and written</source>
        <translation>gelesene und geschriebene Bytes</translation>
    </message>
    <message>
        <source>sent by this rank</source>
        <translation>von diesem Rang gesendet</translation>
    </message>
    <message>
        <source>kept for the backward</source>
        <translation>für den Rückwärtslauf behalten</translation>
    </message>
    <message>
        <source>%1, still to come</source>
        <translation>%1, kommt noch</translation>
    </message>
    <message>
        <source>%1, done</source>
        <translation>%1, fertig</translation>
    </message>
    <message>
        <source>%1, %2 done</source>
        <translation>%1, zu %2 fertig</translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks, with other experts</source>
        <translation>
            <numerusform>%n weiterer Rang, mit anderen Experten</numerusform>
            <numerusform>%n weitere Ränge, mit anderen Experten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more, alike</source>
        <translation>
            <numerusform>%n weiterer, gleich</numerusform>
            <numerusform>%n weitere, gleich</numerusform>
        </translation>
    </message>
    <message>
        <source>BETWEEN RING STEPS %1 AND %2 OF %3</source>
        <translation>ZWISCHEN DEN RING-SCHRITTEN %1 UND %2 VON %3</translation>
    </message>
    <message>
        <source>ring step</source>
        <translation>Ring-Schritt</translation>
    </message>
    <message>
        <source>K, V that have arrived</source>
        <translation>angekommene K, V</translation>
    </message>
    <message>
        <source>tokens b, head 2</source>
        <translation>Token b, Kopf 2</translation>
    </message>
    <message>
        <source>gets %1</source>
        <comment>K/V head 0</comment>
        <translation>bekommt %1</translation>
    </message>
    <message>
        <source>%1: %2 sent by each rank; then each computes the rows of its queries, without waiting.</source>
        <translation>%1: jeder Rang sendet %2; dann rechnet jeder die Zeilen seiner Anfragen, ohne zu warten.</translation>
    </message>
    <message>
        <source>RING STEP %1 OF %2</source>
        <translation>RING-SCHRITT %1 VON %2</translation>
    </message>
    <message>
        <source>WHO HOLDS WHAT</source>
        <translation>WER HÄLT WAS</translation>
    </message>
    <message>
        <source>the first of each TP group; the others do the same for their heads</source>
        <translation>der erste jeder TP-Gruppe; die anderen tun dasselbe für ihre Köpfe</translation>
    </message>
    <message>
        <source>queries stay; keys and values visit every rank, one neighbour at a time</source>
        <translation>Anfragen bleiben; Schlüssel und Werte besuchen jeden Rang, von Nachbar zu Nachbar</translation>
    </message>
    <message>
        <source>queries stay; keys and values of all ranks come to each</source>
        <translation>Anfragen bleiben; Schlüssel und Werte aller Ränge kommen zu jedem</translation>
    </message>
    <message>
        <source>Gradients of keys and values go round as partial sums.</source>
        <translation>Gradienten von Schlüsseln und Werten gehen als Teilsummen herum.</translation>
    </message>
    <message>
        <source>Each rank adds up the partial sums of its own queries.</source>
        <translation>Jeder Rang addiert die Teilsummen seiner eigenen Anfragen.</translation>
    </message>
    <message>
        <source>WHO COMPUTES WHICH SCORES</source>
        <translation>WER RECHNET WELCHE SCORES</translation>
    </message>
    <message>
        <source>queries of rank</source>
        <translation>Anfragen von Rang</translation>
    </message>
    <message>
        <source>the future:</source>
        <translation>die Zukunft:</translation>
    </message>
    <message>
        <source>no work</source>
        <translation>keine Arbeit</translation>
    </message>
    <message>
        <source>BLOCKS BY STEP</source>
        <translation>BLÖCKE JE SCHRITT</translation>
    </message>
    <message>
        <source>BLOCKS</source>
        <translation>BLÖCKE</translation>
    </message>
    <message>
        <source>one block: %1 queries × %1 keys</source>
        <translation>ein Block: %1 Anfragen × %1 Schlüssel</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>together</source>
        <translation>zusammen</translation>
    </message>
    <message>
        <source>fullest rank</source>
        <translation>vollster Rang</translation>
    </message>
    <message>
        <source>time over even share</source>
        <translation>Zeit gegenüber gleichem Anteil</translation>
    </message>
    <message>
        <source>scores, computed</source>
        <translation>Scores, berechnet</translation>
    </message>
    <message>
        <source>computed, in its rank&apos;s color</source>
        <translation>berechnet, in der Farbe des Rangs</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>on the diagonal: half a block</source>
        <translation>auf der Diagonale: ein halber Block</translation>
    </message>
    <message>
        <source>on their way</source>
        <translation>unterwegs</translation>
    </message>
    <message>
        <source>K, V or gradients on their way</source>
        <translation>K, V oder Gradienten unterwegs</translation>
    </message>
    <message>
        <source>K, V on their way</source>
        <translation>K, V unterwegs</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>gradient of the result:</source>
        <translation>Gradient des Ergebnisses:</translation>
    </message>
    <message>
        <source>Q, K, V: own tokens,</source>
        <translation>Q, K, V: eigene Token,</translation>
    </message>
    <message>
        <source>own tokens, all heads</source>
        <translation>eigene Token, alle Köpfe</translation>
    </message>
    <message>
        <source>all heads</source>
        <translation>alle Köpfe</translation>
    </message>
    <message>
        <source>all tokens,</source>
        <translation>alle Token,</translation>
    </message>
    <message>
        <source>own heads</source>
        <translation>eigene Köpfe</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>of own heads</source>
        <translation>eigener Köpfe</translation>
    </message>
    <message>
        <source>gradients of Q, K, V:</source>
        <translation>Gradienten von Q, K, V:</translation>
    </message>
    <message>
        <source>its result:</source>
        <translation>ihr Ergebnis:</translation>
    </message>
    <message>
        <source>all tokens, own heads</source>
        <translation>alle Token, eigene Köpfe</translation>
    </message>
    <message>
        <source>own tokens,</source>
        <translation>eigene Token,</translation>
    </message>
    <message>
        <source>%1 sent by each rank</source>
        <translation>%1 sendet jeder Rang</translation>
    </message>
    <message>
        <source>all-to-all of the gradient</source>
        <translation>All-to-all des Gradienten</translation>
    </message>
    <message>
        <source>all-to-all of Q, K, V</source>
        <translation>All-to-all von Q, K, V</translation>
    </message>
    <message>
        <source>all-to-all of the gradients</source>
        <translation>All-to-all der Gradienten</translation>
    </message>
    <message>
        <source>all-to-all of the result</source>
        <translation>All-to-all des Ergebnisses</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>Ulysses</source>
        <translation>Ulysses</translation>
    </message>
    <message>
        <source>ring</source>
        <translation>Ring</translation>
    </message>
    <message>
        <source>own keys only</source>
        <translation>nur eigene Schlüssel</translation>
    </message>
    <message>
        <source>all-gather</source>
        <translation>All-Gather</translation>
    </message>
    <message>
        <source>tokens %1</source>
        <translation>Token %1</translation>
    </message>
    <message>
        <source>attention of heads %1 over all tokens</source>
        <translation>Attention der Köpfe %1 über alle Token</translation>
    </message>
    <message>
        <source>%1 blocks with keys and values of all ranks</source>
        <translation>%1 Blöcke mit Schlüssel und Werte aller Ränge</translation>
    </message>
    <message>
        <source>step %1: %2 blocks with keys and values of %3</source>
        <translation>Schritt %1: %2 Blöcke mit Schlüssel und Werte von %3</translation>
    </message>
    <message>
        <source>together %1</source>
        <translation>zusammen %1</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation>%1: %2.</translation>
    </message>
    <message>
        <source>Time over an even share: %1.</source>
        <translation>Zeit gegenüber gleichem Anteil: %1.</translation>
    </message>
    <message>
        <source>queries</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>keys and values</source>
        <translation>Schlüssel und Werte</translation>
    </message>
    <message>
        <source>of all ranks</source>
        <translation>aller Ränge</translation>
    </message>
    <message>
        <source>of %1, %2</source>
        <translation>von %1, %2</translation>
    </message>
    <message>
        <source>blocks of scores</source>
        <translation>Blöcke von Scores</translation>
    </message>
    <message>
        <source>no dropout</source>
        <translation>kein Dropout</translation>
    </message>
    <message>
        <source>fused attention computes scores again</source>
        <translation>fusionierte Attention rechnet Scores neu</translation>
    </message>
    <message>
        <source>recomputed</source>
        <translation>neu berechnet</translation>
    </message>
    <message>
        <source>%1 + SP</source>
        <translation>%1 + SP</translation>
    </message>
    <message>
        <source>struck out: %1</source>
        <translation>durchgestrichen: %1</translation>
    </message>
    <message>
        <source>beside these, %1 that Korthikanti et al. leave out</source>
        <translation>daneben %1, die Korthikanti et al. weglassen</translation>
    </message>
    <message>
        <source>KEPT FOR THE BACKWARD · one layer, one micro-batch, every rank · s sequence, b micro-batch, h width, a heads</source>
        <translation>FÜR RÜCKWÄRTS BEHALTEN · eine Schicht, ein Mikro-Batch, jeder Rang · s Sequenz, b Mikro-Batch, h Breite, a Köpfe</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>without %1 (%2)</source>
        <translation>ohne %1 (%2)</translation>
    </message>
    <message>
        <source>Kept for the backward, %1. Terms: %2.</source>
        <translation>Für rückwärts behalten, %1. Terme: %2.</translation>
    </message>
    <message>
        <source>below 0</source>
        <translation>unter 0</translation>
    </message>
    <message>
        <source>above 0, one scale for all ranks</source>
        <translation>über 0, eine Skala für alle Ränge</translation>
    </message>
    <message>
        <source>difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>one rank</source>
        <translation>ein Rang</translation>
    </message>
    <message>
        <source>checked</source>
        <translation>geprüft</translation>
    </message>
    <message>
        <source>needs a run on this computer</source>
        <translation>braucht einen Lauf auf diesem Computer</translation>
    </message>
    <message>
        <source>not yet: press Look inside</source>
        <translation>noch nicht: drücke Hineinsehen</translation>
    </message>
    <message>
        <source>Embedding</source>
        <translation>Embedding</translation>
    </message>
    <message>
        <source>Head and loss</source>
        <translation>Kopf und Verlust</translation>
    </message>
    <message>
        <source>Nothing is cut by words: every rank has all %1.</source>
        <translation>Nichts ist nach Wörtern zerschnitten: Jeder Rang hat alle %1.</translation>
    </message>
    <message>
        <source>EMBEDDING</source>
        <translation>EMBEDDING</translation>
    </message>
    <message>
        <source>HEAD, LOSS</source>
        <translation>KOPF, VERLUST</translation>
    </message>
    <message>
        <source>cut by words: rows</source>
        <translation>Zeilen: Wörter</translation>
    </message>
    <message>
        <source>cut by words: columns</source>
        <translation>Spalten: Wörter</translation>
    </message>
    <message>
        <source>the largest logit of each token</source>
        <translation>das größte Logit jedes Tokens</translation>
    </message>
    <message>
        <source>the sum of exp(logit − max) of each token</source>
        <translation>die Summe von exp(Logit − max) jedes Tokens</translation>
    </message>
    <message>
        <source>the logit of each token&apos;s right word</source>
        <translation>das Logit des richtigen Worts jedes Tokens</translation>
    </message>
    <message>
        <source>Not tied: embedding and head have a table each.</source>
        <translation>Nicht geteilt: Embedding und Kopf haben je eine Tabelle.</translation>
    </message>
    <message>
        <source>Tied: the head&apos;s weight is the embedding&apos;s table, and both add to its gradient.</source>
        <translation>Geteilt: Das Gewicht des Kopfs ist die Tabelle des Embeddings, und beide addieren zu ihrem Gradienten.</translation>
    </message>
    <message>
        <source>Tied, on two stages: each has a copy of the table, and once a step both add up their gradients, %1 sent by each rank.</source>
        <translation>Geteilt, auf zwei Stufen: Jede hat eine Kopie der Tabelle, und einmal je Schritt addieren beide ihre Gradienten; jeder Rang sendet dafür %1.</translation>
    </message>
    <message>
        <source>A rank adds gradients of all tokens to the rows of its own words: nothing to add up.</source>
        <translation>Ein Rang addiert Gradienten aller Token zu den Zeilen seiner eigenen Wörter: Zwischen Rängen ist nichts zu addieren.</translation>
    </message>
    <message>
        <source>A rank looks up the words that it has and leaves zeros for all others: a partial sum, of which one part is not zero.</source>
        <translation>Ein Rang schlägt die Wörter nach, die er hat, und lässt für alle anderen Nullen: eine Teilsumme, von der ein Teil nicht null ist.</translation>
    </message>
    <message>
        <source>The loss sends nothing here: a rank has three numbers of each token from the forward, and turns its own logits into their gradients.</source>
        <translation>Der Verlust sendet hier nichts: Ein Rang hat vom Vorwärtslauf drei Zahlen jedes Tokens und macht aus seinen eigenen Logits deren Gradienten.</translation>
    </message>
    <message>
        <source>A rank holds %1 of logits, of its own words; of all words, %2.</source>
        <translation>Ein Rang hält %1 Logits, die seiner eigenen Wörter; die aller Wörter wären %2.</translation>
    </message>
    <message>
        <source>three numbers</source>
        <translation>drei Zahlen</translation>
    </message>
    <message>
        <source>%1: max, sum and target of each token</source>
        <translation>%1: max, sum und target jedes Tokens</translation>
    </message>
    <message>
        <source>all logits</source>
        <translation>alle Logits</translation>
    </message>
    <message>
        <source>%1, if ranks gathered the logits of all %2 words</source>
        <translation>%1, wenn Ränge die Logits aller %2 Wörter sammelten</translation>
    </message>
    <message>
        <source>What the loss sends, %1: %2.</source>
        <translation>Was der Verlust sendet, %1: %2.</translation>
    </message>
    <message>
        <source>array</source>
        <translation>Feld</translation>
    </message>
    <message>
        <source>%1 numbers, %2</source>
        <translation>%1 Zahlen, %2</translation>
    </message>
    <message>
        <source>all logits instead</source>
        <translation>alle Logits stattdessen</translation>
    </message>
    <message>
        <source>%1 sent by a rank</source>
        <translation>%1 von einem Rang gesendet</translation>
    </message>
    <message>
        <source>WHAT THE LOSS SENDS · three all-reduces of one micro-batch, every rank</source>
        <translation>WAS DER VERLUST SENDET · drei All-Reduces eines Mikro-Batches, jeder Rang</translation>
    </message>
    <message>
        <source>words %1</source>
        <translation>Wörter %1</translation>
    </message>
    <message>
        <source>to %1</source>
        <translation>bis %1</translation>
    </message>
    <message>
        <source>K/V head %1</source>
        <translation>K/V-Kopf %1</translation>
    </message>
    <message>
        <source>K/V heads %1 to %2</source>
        <translation>K/V-Köpfe %1 bis %2</translation>
    </message>
    <message>
        <source>fewer K/V heads than ranks:</source>
        <translation>weniger K/V-Köpfe als Ränge:</translation>
    </message>
    <message>
        <source>gradients of copies are added up</source>
        <translation>Gradienten der Kopien addiert</translation>
    </message>
    <message>
        <source>neighbours get copies of one</source>
        <translation>Nachbarn bekommen Kopien</translation>
    </message>
    <message>
        <source>a copy of K/V head %1, which neighbours have too</source>
        <translation>eine Kopie von K/V-Kopf %1, den auch Nachbarn haben</translation>
    </message>
    <message>
        <source>K/V heads %1</source>
        <translation>K/V-Köpfe %1</translation>
    </message>
    <message>
        <source>Work of the ranks %1</source>
        <translation>Arbeit der Ränge %1</translation>
    </message>
    <message>
        <source>Time of their attention %1, %2</source>
        <translation>Zeit ihrer Attention %1, %2</translation>
    </message>
    <message>
        <source>heads %1–%2</source>
        <translation>Köpfe %1–%2</translation>
    </message>
    <message>
        <source>a ring needs fused attention</source>
        <translation>ein Ring braucht verschmolzene Attention</translation>
    </message>
    <message>
        <source>f: nothing forward, an all-reduce backward.</source>
        <translation>f: vorwärts nichts, rückwärts ein All-Reduce.</translation>
    </message>
    <message>
        <source>ḡ: a reduce-scatter forward, an all-gather backward.</source>
        <translation>ḡ: vorwärts ein Reduce-Scatter, rückwärts ein All-Gather.</translation>
    </message>
    <message>
        <source>cut by experts, columns and rows</source>
        <translation>nach Experten, Spalten und Zeilen geteilt</translation>
    </message>
    <message>
        <source>cut by experts</source>
        <translation>nach Experten geteilt</translation>
    </message>
    <message>
        <source>cut by columns, then by rows</source>
        <translation>nach Spalten, dann nach Zeilen geteilt</translation>
    </message>
    <message>
        <source>expert %1: %2</source>
        <translation>Experte %1: %2</translation>
    </message>
    <message>
        <source>rank %1: %2 (stay)</source>
        <translation>Rang %1: %2 (bleiben)</translation>
    </message>
    <message>
        <source>rank %1: %2</source>
        <translation>Rang %1: %2</translation>
    </message>
    <message>
        <source>counted in the run</source>
        <translation>im Lauf gezählt</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>The strip beside each row shows the rank that its tokens go to or come from, with their number, %1. E3: expert 3.</source>
        <translation>Der Streifen neben jeder Zeile zeigt den Rang, zu dem ihre Token gehen oder von dem sie kommen, mit ihrer Zahl, %1. E3: Experte 3.</translation>
    </message>
    <message>
        <source>%1 experts</source>
        <translation>%1 Experten</translation>
    </message>
    <message>
        <source>%1 of %2 experts</source>
        <translation>%1 von %2 Experten</translation>
    </message>
    <message>
        <source>expert %1</source>
        <translation>Experte %1</translation>
    </message>
    <message>
        <source>experts %1</source>
        <translation>Experten %1</translation>
    </message>
    <message>
        <source>counts</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>dispatch</source>
        <translation>Dispatch</translation>
    </message>
    <message>
        <source>combine</source>
        <translation>Combine</translation>
    </message>
    <message>
        <source>gradients back from</source>
        <translation>Gradienten zurück von</translation>
    </message>
    <message>
        <source>gradients to</source>
        <translation>Gradienten an</translation>
    </message>
    <message>
        <source>tokens back from</source>
        <translation>Token zurück von</translation>
    </message>
    <message>
        <source>tokens to</source>
        <translation>Token an</translation>
    </message>
    <message>
        <source>tokens here</source>
        <translation>Token hier</translation>
    </message>
    <message>
        <source>capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <source>no limit, so that no token is dropped</source>
        <translation>keine Grenze, sodass kein Token verworfen wird</translation>
    </message>
    <message>
        <source>%1 tokens of each rank for an expert; the group drops %2</source>
        <translation>%1 Token jedes Rangs für einen Experten; die Gruppe verwirft %2</translation>
    </message>
    <message>
        <source>Rank %1 has %2</source>
        <translation>Rang %1 hat %2</translation>
    </message>
    <message>
        <source>, tokens to %1</source>
        <translation>, Token an %1</translation>
    </message>
    <message>
        <source>ROUTER</source>
        <translation>ROUTER</translation>
    </message>
    <message>
        <source>cut by tokens</source>
        <translation>tokenweise geteilt</translation>
    </message>
    <message>
        <source>by tokens</source>
        <translation>tokenweise</translation>
    </message>
    <message>
        <source>cut by heads</source>
        <translation>kopfweise geteilt</translation>
    </message>
    <message>
        <source>by heads</source>
        <translation>kopfweise</translation>
    </message>
    <message>
        <source>by columns</source>
        <translation>spaltenweise</translation>
    </message>
    <message>
        <source>%1: partial sums</source>
        <comment>cut by rows</comment>
        <translation>%1: Teilsummen</translation>
    </message>
    <message>
        <source>%1: nothing to add</source>
        <comment>cut by columns</comment>
        <translation>%1: nichts zu addieren</translation>
    </message>
    <message>
        <source>is</source>
        <translation>ist</translation>
    </message>
    <message>
        <source>computes</source>
        <translation>rechnet</translation>
    </message>
    <message>
        <source>%1 more are kept that the paper does not count: statistics of norms and of fused attention, and keys and values of other ranks.</source>
        <translation>%1 bleiben außerdem, die der Artikel nicht zählt: Statistiken von Normen und von fusionierter Attention sowie Schlüssel und Werte anderer Ränge.</translation>
    </message>
    <message>
        <source>g (f̄ in Korthikanti et al.): an all-reduce forward, nothing backward.</source>
        <translation>g (f̄ bei Korthikanti et al.): vorwärts ein All-Reduce, rückwärts nichts.</translation>
    </message>
    <message>
        <source>g (of Korthikanti et al.; in Shoeybi et al. an all-reduce): an all-gather forward, a reduce-scatter backward.</source>
        <translation>g (von Korthikanti et al.; bei Shoeybi et al. ein All-Reduce): vorwärts ein All-Gather, rückwärts ein Reduce-Scatter.</translation>
    </message>
    <message>
        <source>not here: a run compares what the layers send, not the loss and tables</source>
        <translation>hier nicht: Ein Lauf vergleicht, was die Schichten senden, nicht Verlust und Tabellen</translation>
    </message>
    <message>
        <source>not here: rows of tokens travel, and both sides have them in another order</source>
        <translation>hier nicht: Zeilen von Token reisen, und beide Seiten haben sie in anderer Reihenfolge</translation>
    </message>
    <message>
        <source>with the first exchange of this ring</source>
        <translation>mit dem ersten Austausch dieses Rings</translation>
    </message>
    <message>
        <source>not here: no probe sees what stands on both sides of it</source>
        <translation>hier nicht: Keine Sonde sieht, was auf seinen beiden Seiten steht</translation>
    </message>
    <message>
        <source>Numbers of the first training step, averaged down to cells. Difference: of both sides of a collective; one rank: from what it computes alone. –: nothing to compare, a click says why.</source>
        <translation>Zahlen des ersten Trainingsschritts, zu Zellen gemittelt. Unterschied: der beiden Seiten eines Kollektivs; ein Rang: zu dem, was er allein rechnet. –: nichts zu vergleichen, ein Klick sagt, warum.</translation>
    </message>
    <message>
        <source>%1 here: %2, the mean of a cell</source>
        <translation>%1 hier: %2, das Mittel einer Zelle</translation>
    </message>
    <message>
        <source>numbers</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>not seen yet: Run copies none. Double-click, or press Look inside: one training step runs and brings those of every piece</source>
        <translation>noch nicht gesehen: Starten kopiert keine. Klicke doppelt oder drücke Hineinsehen: Ein Trainingsschritt läuft und bringt die jedes Teils</translation>
    </message>
    <message>
        <source>need a run on this computer</source>
        <translation>brauchen einen Lauf auf diesem Computer</translation>
    </message>
    <message>
        <source>norm %1, mean %2, from %3 to %4</source>
        <translation>Norm %1, Mittel %2, von %3 bis %4</translation>
    </message>
    <message>
        <source>%1, of all blocks</source>
        <comment>norm 3, mean 0.1, from -2 to 2</comment>
        <translation>%1, aller Blöcke</translation>
    </message>
    <message>
        <source>%1 out</source>
        <comment>tensor u</comment>
        <translation>%1 heraus</translation>
    </message>
    <message>
        <source>%1 in</source>
        <comment>tensor x</comment>
        <translation>%1 hinein</translation>
    </message>
    <message>
        <source>cut by tokens and heads</source>
        <translation>token- und kopfweise geteilt</translation>
    </message>
    <message>
        <source>by tokens, heads</source>
        <translation>token- und kopfweise</translation>
    </message>
    <message>
        <source>cut by tokens and columns</source>
        <translation>token- und spaltenweise geteilt</translation>
    </message>
    <message>
        <source>by tokens, columns</source>
        <translation>token- und spaltenweise</translation>
    </message>
    <message>
        <source>cut twice</source>
        <translation>zweifach</translation>
    </message>
</context>
<context>
    <name>parallelarium::LayerView</name>
    <message>
        <source>How CP cuts a sequence</source>
        <translation>Wie CP eine Sequenz schneidet</translation>
    </message>
    <message>
        <source>contiguous</source>
        <translation>zusammenhängend</translation>
    </message>
    <message>
        <source>A rank has one run of tokens; late ones see more keys, so the last rank works longest</source>
        <translation>Ein Rang hat ein Stück der Token; späte sehen mehr Schlüssel, also arbeitet der letzte Rang am längsten</translation>
    </message>
    <message>
        <source>zigzag</source>
        <translation>Zickzack</translation>
    </message>
    <message>
        <source>A rank has a run from the front and one from the back, so that all work alike</source>
        <translation>Ein Rang hat ein Stück von vorn und eines von hinten, sodass alle gleich viel arbeiten</translation>
    </message>
    <message>
        <source>With fused attention, where the exchange needs it</source>
        <translation>Mit verschmolzener Attention, wo der Austausch sie braucht</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <translation>Mikro-Batch</translation>
    </message>
    <message>
        <source>Direction</source>
        <translation>Richtung</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>The forward</source>
        <translation>Der Vorwärtslauf</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>The backward, drawn from right to left</source>
        <translation>Der Rückwärtslauf, von rechts nach links gezeichnet</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>FLOP and FLOP per byte of every piece too</source>
        <translation>Auch FLOP und FLOP je Byte jedes Teils</translation>
    </message>
    <message>
        <source>Cut the tokens: CP 4</source>
        <translation>Tokens schneiden: CP 4</translation>
    </message>
    <message>
        <source>Picture of the layer</source>
        <translation>Bild der Schicht</translation>
    </message>
    <message>
        <source>L&amp;ayer view</source>
        <translation>S&amp;chichtansicht</translation>
    </message>
    <message>
        <source>From the simulated timeline: from the first op of the layer in this direction to its last, over all ranks of the group.</source>
        <translation>Aus der simulierten Zeitleiste: vom ersten Vorgang der Schicht in dieser Richtung bis zu ihrem letzten, über alle Ränge der Gruppe.</translation>
    </message>
    <message>
        <source>What the chosen rank sends in the collectives and exchanges of this layer. A run counts the bytes of each call.</source>
        <translation>Was der gewählte Rang in den Kollektiven und Austauschen dieser Schicht sendet. Ein Lauf zählt die Bytes jedes Aufrufs.</translation>
    </message>
    <message>
        <source>Activations that are held from the layer&apos;s forward until its backward reads them. A run counts those that were open when that forward had ended.</source>
        <translation>Aktivierungen, die vom Vorwärtslauf der Schicht an gehalten werden, bis ihr Rückwärtslauf sie liest. Ein Lauf zählt die, die am Ende dieses Vorwärtslaufs offen waren.</translation>
    </message>
    <message>
        <source>FLOPs of the layer&apos;s pieces on the chosen rank over the time in which it computes them. A multiply-add counts as two. No run counts FLOPs.</source>
        <translation>FLOPs der Teile dieser Schicht auf dem gewählten Rang durch die Zeit, in der er sie rechnet. Multiplizieren und Addieren zählt als zwei. Kein Lauf zählt FLOPs.</translation>
    </message>
    <message>
        <source>What is cut, whole or added up</source>
        <translation>Was geschnitten, ganz oder summiert ist</translation>
    </message>
    <message>
        <source>One layer on every rank that shares it: each block is a **shard**, a **copy** or a **partial sum**, drawn to one scale. A bar across the ranks is a collective, with the bytes that it sends. Play moves through the layer&apos;s work; the figures switch adds FLOPs and bytes.</source>
        <translation>Eine Schicht auf jedem Rang, der sie teilt: Jeder Block ist ein **Teil**, eine **Kopie** oder eine **Teilsumme**, in einem Maßstab gezeichnet. Ein Balken über die Ränge ist ein Kollektiv mit den Bytes, die es sendet. Abspielen geht durch die Arbeit der Schicht; der Schalter für Zahlen zeigt FLOPs und Bytes.</translation>
    </message>
    <message>
        <source>What is shown</source>
        <translation>Was gezeigt wird</translation>
    </message>
    <message>
        <source>context parallel</source>
        <translation>Kontextparallel</translation>
    </message>
    <message>
        <source>Who computes which scores, and what travels</source>
        <translation>Wer welche Scores rechnet, und was unterwegs ist</translation>
    </message>
    <message>
        <source>all pieces</source>
        <translation>alle Teile</translation>
    </message>
    <message>
        <source>Every piece of the layer with its tensors</source>
        <translation>Jedes Teil der Schicht mit seinen Tensoren</translation>
    </message>
    <message>
        <source>Look inside</source>
        <translation>Hineinsehen</translation>
    </message>
    <message>
        <source>Needs a run: choose this computer</source>
        <translation>Braucht einen Lauf: wähle diesen Rechner</translation>
    </message>
    <message>
        <source>Part of the model</source>
        <translation>Teil des Modells</translation>
    </message>
    <message>
        <source>embedding</source>
        <translation>Embedding</translation>
    </message>
    <message>
        <source>Tokens become rows of a table</source>
        <translation>Token werden zu Zeilen einer Tabelle</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>One of the layers</source>
        <translation>Eine der Schichten</translation>
    </message>
    <message>
        <source>Logits of all words, and the loss</source>
        <translation>Logits aller Wörter, und der Verlust</translation>
    </message>
    <message>
        <source>head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>Click a piece to see what it computes, its shapes and how long it takes; arrows walk over the pieces. Shift+Enter shows all of many ranks, or few.</source>
        <translation>Klicke auf ein Teil, um zu sehen, was es rechnet, welche Formen es hat und wie lange es dauert; Pfeile gehen über die Teile. Umschalt+Eingabe zeigt von vielen Rängen alle oder wenige.</translation>
    </message>
    <message>
        <source>Looked inside: the numbers of a run are shown</source>
        <translation>Hineingesehen: die Zahlen eines Laufs sind zu sehen</translation>
    </message>
    <message>
        <source>This step is the first: the backward goes on to the left.</source>
        <translation>Dieser Schritt ist der erste: Rückwärts geht es nach links weiter.</translation>
    </message>
    <message>
        <source>This step is the last: the backward came from the right.</source>
        <translation>Dieser Schritt ist der letzte: Rückwärts kommt von rechts.</translation>
    </message>
    <message>
        <source>This step is the first.</source>
        <translation>Dieser Schritt ist der erste.</translation>
    </message>
    <message>
        <source>This step is the last.</source>
        <translation>Dieser Schritt ist der letzte.</translation>
    </message>
    <message>
        <source>Cut the matrices: TP %1</source>
        <translation>Matrizen schneiden: TP %1</translation>
    </message>
    <message>
        <source>Cut the vocabulary: TP %1</source>
        <translation>Vokabular schneiden: TP %1</translation>
    </message>
    <message>
        <source>Run one training step, and the same on one rank, and show the numbers of every piece, which Run does not copy</source>
        <translation>Führt einen Trainingsschritt aus, und denselben auf einem Rang, und zeigt die Zahlen jedes Teils, die Starten nicht kopiert</translation>
    </message>
</context>
<context>
    <name>parallelarium::PartsForm</name>
    <message>
        <source>choose …</source>
        <translation>wählen …</translation>
    </message>
    <message>
        <source>Fill in every row.</source>
        <translation>Fülle jede Zeile aus.</translation>
    </message>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>not right</source>
        <translation>nicht richtig</translation>
    </message>
    <message>
        <source>“%1” stands in two rows.</source>
        <translation>„%1“ steht in zwei Zeilen.</translation>
    </message>
    <message>
        <source>Fill in every row, each with another choice.</source>
        <translation>Fülle jede Zeile aus, jede mit einer anderen Wahl.</translation>
    </message>
</context>
<context>
    <name>parallelarium::CheatSheet</name>
    <message>
        <source>%1 **%2** on this computer</source>
        <translation>%1 **%2** auf diesem Rechner</translation>
    </message>
    <message>
        <source>Parallelarium: what to take away</source>
        <translation>Parallelarium: was bleibt</translation>
    </message>
    <message>
        <source>What to take away</source>
        <translation>Was bleibt</translation>
    </message>
    <message>
        <source>What a lesson leaves behind stands here as soon as you have come to its end.</source>
        <translation>Was von einer Lektion bleibt, steht hier, sobald du an ihrem Ende bist.</translation>
    </message>
    <message>
        <source>Save as PDF …</source>
        <translation>Als PDF sichern …</translation>
    </message>
</context>
<context>
    <name>parallelarium::CourseIndexSheet</name>
    <message>
        <source>Index and sources</source>
        <translation>Begriffe und Quellen</translation>
    </message>
    <message>
        <source>Search concepts, sources and lessons</source>
        <translation>Begriffe, Quellen und Lektionen suchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Concepts</source>
        <translation>Begriffe</translation>
    </message>
    <message>
        <source>Sources</source>
        <translation>Quellen</translation>
    </message>
    <message>
        <source>Lessons: %1</source>
        <translation>Lektionen: %1</translation>
    </message>
    <message>
        <source>Words: %1</source>
        <translation>Wörter: %1</translation>
    </message>
    <message>
        <source>formulas of this window</source>
        <translation>Formeln dieses Fensters</translation>
    </message>
    <message>
        <source>one table of published runs</source>
        <translation>eine Tabelle veröffentlichter Läufe</translation>
    </message>
    <message>
        <source>%1 tables of published runs</source>
        <translation>%1 Tabellen veröffentlichter Läufe</translation>
    </message>
    <message>
        <source>Also: %1</source>
        <translation>Außerdem: %1</translation>
    </message>
    <message>
        <source>Concepts: %1 · Sources: %2</source>
        <translation>Begriffe: %1 · Quellen: %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::CompareView</name>
    <message>
        <source>begin, %1 − A</source>
        <translation>Beginn, %1 − A</translation>
    </message>
    <message>
        <source>&amp;Pin what is set</source>
        <translation>Eingestelltes an&amp;heften</translation>
    </message>
    <message>
        <source>The p&amp;lan selected in Search</source>
        <translation>Der &amp;Plan aus der Suche</translation>
    </message>
    <message>
        <source>PLAN · %1</source>
        <translation>PLAN · %1</translation>
    </message>
    <message>
        <source>An earlier &amp;run</source>
        <translation>Ein früherer &amp;Lauf</translation>
    </message>
    <message>
        <source>A published &amp;case</source>
        <translation>Ein veröffentlichter &amp;Fall</translation>
    </message>
    <message>
        <source>CASE · %1 · %2</source>
        <translation>FALL · %1 · %2</translation>
    </message>
    <message>
        <source>Predicting the column to be added …</source>
        <translation>Die neue Spalte wird vorhergesagt …</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>Compar&amp;e view</source>
        <translation>V&amp;ergleichsansicht</translation>
    </message>
    <message>
        <source>Picture of the comparison</source>
        <translation>Bild des Vergleichs</translation>
    </message>
    <message>
        <source>Add a column …</source>
        <translation>Spalte hinzufügen …</translation>
    </message>
    <message>
        <source>Remove the last</source>
        <translation>Letzte entfernen</translation>
    </message>
    <message>
        <source>Four columns are the most: remove one first.</source>
        <translation>Mehr als vier Spalten gibt es nicht: erst eine entfernen.</translation>
    </message>
    <message>
        <source>Remove the pin</source>
        <translation>Angeheftetes entfernen</translation>
    </message>
    <message>
        <source>begins at %1, takes %2</source>
        <translation>beginnt bei %1, dauert %2</translation>
    </message>
    <message>
        <source>has no such action</source>
        <translation>hat keine solche Aktion</translation>
    </message>
    <message>
        <source>Why one is faster</source>
        <translation>Warum eine Einstellung schneller ist</translation>
    </message>
    <message>
        <source>Setups, runs and published cases stand side by side as lettered columns, with step time, memory, bubble and exposed communication. The bars say in milliseconds what makes the difference: computing, bubble, communication of each axis, recompute, optimizer. Where two columns cannot be compared, the cell says why.</source>
        <translation>Einstellungen, Läufe und veröffentlichte Fälle stehen nebeneinander als Spalten mit Buchstaben, mit Schrittdauer, Speicher, Blase und unverdeckter Kommunikation. Die Balken sagen in Millisekunden, was den Unterschied macht: Rechnen, Blase, Kommunikation jeder Achse, Neurechnen, Optimierer. Wo zwei Spalten nicht vergleichbar sind, sagt die Zelle, warum.</translation>
    </message>
    <message>
        <source>Predicting the plans …</source>
        <translation>Die Pläne werden vorhergesagt …</translation>
    </message>
    <message>
        <source>What each lettered column is of stands over its lane.</source>
        <translation>Wovon jede Spalte ist, steht bei ihrem Buchstaben über ihrer Spur.</translation>
    </message>
    <message>
        <source>Click a bar to see when each column does the same, and how much later.</source>
        <translation>Klicke auf einen Balken, um zu sehen, wann jede Spalte dasselbe tut und wie viel später.</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>%1, %2: over the same links at the same rate</source>
        <translation>%1, %2: über dieselben Verbindungen mit derselben Rate</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>Unterschiede</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>The steps are equal, part by part.</source>
        <translation>Die Schritte sind gleich, Teil für Teil.</translation>
    </message>
    <message>
        <source>together</source>
        <translation>zusammen</translation>
    </message>
    <message>
        <source>Means over the ranks. Bars to the right make the step longer.</source>
        <translation>Mittel über die Ränge. Balken nach rechts verlängern den Schritt.</translation>
    </message>
    <message>
        <source>other machine</source>
        <translation>andere Geräte</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>Ränge</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>computing, busiest rank</source>
        <translation>Rechnen, vollster Rang</translation>
    </message>
    <message>
        <source>exposed, rank that computes most</source>
        <translation>unverdeckt, meistrechnender Rang</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Token je Sekunde</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>bubble of whole step</source>
        <translation>Blase am ganzen Schritt</translation>
    </message>
    <message>
        <source>memory, fullest rank</source>
        <translation>Speicher, vollster Rang</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>optimizer states</source>
        <translation>Optimiererzustände</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <source>memory of a device</source>
        <translation>Speicher eines Geräts</translation>
    </message>
    <message>
        <source>sent, %1</source>
        <translation>gesendet, %1</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Noch keine Vorhersage</translation>
    </message>
    <message>
        <source>Nothing to compare with yet</source>
        <translation>Noch nichts zum Vergleichen</translation>
    </message>
    <message>
        <source>What makes the difference between A and %1?</source>
        <translation>Was macht den Unterschied zwischen A und %1?</translation>
    </message>
    <message>
        <source>Step of %1 less that of A, by cause</source>
        <translation>Schritt von %1 weniger dem von A, nach Ursachen</translation>
    </message>
    <message>
        <source>BEST PLAN, SELECTED · %1</source>
        <translation>BESTER PLAN, AUSGEWÄHLT · %1</translation>
    </message>
    <message>
        <source>SELECTED PLAN · %1</source>
        <translation>AUSGEWÄHLTER PLAN · %1</translation>
    </message>
    <message>
        <source>BEST PLAN · %1</source>
        <translation>BESTER PLAN · %1</translation>
    </message>
    <message>
        <source>TODAY · %1</source>
        <translation>HEUTE · %1</translation>
    </message>
    <message>
        <source>exposed, %1, mean</source>
        <translation>unverdeckt, %1, Mittel</translation>
    </message>
    <message>
        <source>TODAY, SELECTED · %1</source>
        <translation>HEUTE, AUSGEWÄHLT · %1</translation>
    </message>
    <message>
        <source>As it was published</source>
        <translation>Wie veröffentlicht</translation>
    </message>
    <message>
        <source>MFU, attention in full</source>
        <translation>MFU, Attention voll</translation>
    </message>
    <message>
        <source>%1, published</source>
        <translation>%1, veröffentlicht</translation>
    </message>
    <message>
        <source>%1, predicted</source>
        <translation>%1, vorhergesagt</translation>
    </message>
    <message>
        <source>error of the prediction</source>
        <translation>Fehler der Vorhersage</translation>
    </message>
    <message>
        <source>“Add a column …” has published cases, earlier runs and the plan of the search. What is set becomes a column, too: pin it there, then change it or run it in Explore.</source>
        <translation>„Spalte hinzufügen …“ bietet veröffentlichte Fälle, frühere Läufe und den Plan der Suche. Auch das Eingestellte wird zur Spalte: Hefte es dort an und ändere oder starte es dann in „Erkunden“.</translation>
    </message>
</context>
<context>
    <name>RooflineView</name>
    <message>
        <source>A piece above the slope of memory finds in caches what it reads.</source>
        <translation>Ein Teil über der Schräge des Speichers findet in Caches, was er liest.</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neuberechnung</translation>
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
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>No prediction yet</source>
        <translation>Noch keine Vorhersage</translation>
    </message>
    <message>
        <source>arithmetic</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>launch</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Roofline · %1 · layer %2 of %3 on rank %4, one micro-batch</source>
        <translation>Roofline · %1 · Schicht %2 von %3 auf Rang %4, ein Mikro-Batch</translation>
    </message>
    <message>
        <source>FLOP per byte</source>
        <translation>FLOP je Byte</translation>
    </message>
    <message>
        <source>computes</source>
        <translation>rechnet</translation>
    </message>
    <message>
        <source>moves at least</source>
        <translation>bewegt mindestens</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>reaches</source>
        <translation>erreicht</translation>
    </message>
    <message>
        <source>bound by</source>
        <translation>begrenzt durch</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>reached</source>
        <translation>erreichte</translation>
    </message>
    <message>
        <source>%1: %2, ridge at %3 FLOP per byte, %4.</source>
        <translation>%1: %2, Grat bei %3 FLOP je Byte, %4.</translation>
    </message>
    <message>
        <source>%1: %2, %3.</source>
        <translation>%1: %2, %3.</translation>
    </message>
    <message>
        <source>latency %1</source>
        <translation>Latenz %1</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>Piece</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>FLOP/B</source>
        <translation>FLOP/B</translation>
    </message>
    <message>
        <source>Ladder</source>
        <translation>Leiter</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>%1; rate: %2</source>
        <translation>%1; Rate: %2</translation>
    </message>
    <message>
        <source>Rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>Origin</source>
        <translation>Herkunft</translation>
    </message>
    <message>
        <source>%1 FLOP/B</source>
        <translation>%1 FLOP/B</translation>
    </message>
    <message>
        <source>FLOP per byte moved to or from memory</source>
        <translation>FLOP je Byte, das der Speicher gibt oder nimmt</translation>
    </message>
    <message>
        <source>ridge %1</source>
        <translation>Grat %1</translation>
    </message>
    <message>
        <source>FLOP/s over FLOP per byte</source>
        <translation>FLOP/s über FLOP je Byte</translation>
    </message>
    <message>
        <source>Predicting the plan …</source>
        <translation>Der Plan wird vorhergesagt …</translation>
    </message>
    <message>
        <source>forward, also again in the backward</source>
        <translation>vorwärts, auch noch einmal im Rückwärtslauf</translation>
    </message>
    <message>
        <source>as measured, filled</source>
        <translation>gemessen, gefüllt</translation>
    </message>
    <message>
        <source>%1: %2 of the layer&apos;s time.</source>
        <translation>%1: %2 der Zeit der Schicht.</translation>
    </message>
    <message>
        <source>Layer, forward</source>
        <translation>Schicht, vorwärts</translation>
    </message>
    <message>
        <source>Share waiting for memory</source>
        <translation>Wartet auf Speicher</translation>
    </message>
    <message>
        <source>FLOP per byte, mean</source>
        <translation>FLOP je Byte, im Mittel</translation>
    </message>
    <message>
        <source>Of peak arithmetic</source>
        <translation>Anteil der Spitzenrate</translation>
    </message>
    <message>
        <source>of one micro-batch</source>
        <translation>eines Mikro-Batches</translation>
    </message>
    <message>
        <source>Ridge</source>
        <translation>Grat</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Left of %1 FLOP per byte a piece waits for memory: fuse it.</source>
        <translation>Links von %1 FLOP je Byte wartet ein Teil auf den Speicher: verschmelzen.</translation>
    </message>
    <message>
        <source>Right of it more bandwidth is no help.</source>
        <translation>Rechts davon hilft mehr Bandbreite nicht.</translation>
    </message>
    <message>
        <source>A piece below its roof loses efficiency: no limit of the machine holds it there.</source>
        <translation>Ein Teil unter seinem Dach verliert Effizienz: Keine Grenze der Maschine hält ihn dort.</translation>
    </message>
    <message>
        <source>Roof</source>
        <translation>Dach</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>Bars are logarithmic.</source>
        <translation>Balken sind logarithmisch.</translation>
    </message>
    <message>
        <source>÷: a rate so many times as slow as the one before it on the way out.</source>
        <translation>÷: so viele Male so langsam wie die Rate davor auf dem Weg nach außen.</translation>
    </message>
    <message>
        <source>arithmetic is the limit →</source>
        <translation>Rechnen ist die Grenze →</translation>
    </message>
    <message>
        <source>← memory is the limit</source>
        <translation>← Speicher ist die Grenze</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>Of the memory of a device %1 may be used.</source>
        <translation>Vom Speicher eines Geräts dürfen %1 benutzt werden.</translation>
    </message>
</context>
<context>
    <name>parallelarium::RooflineView</name>
    <message>
        <source>Roofline</source>
        <translation>Roofline</translation>
    </message>
    <message>
        <source>Roo&amp;fline view</source>
        <translation>Roo&amp;flineansicht</translation>
    </message>
    <message>
        <source>Picture of the roofline</source>
        <translation>Bild der Roofline</translation>
    </message>
    <message>
        <source>layer </source>
        <translation>Schicht </translation>
    </message>
    <message>
        <source>Layer whose pieces are shown</source>
        <translation>Schicht, deren Teile gezeigt werden</translation>
    </message>
    <message>
        <source>Bytes or arithmetic</source>
        <translation>Bytes oder Rechnen</translation>
    </message>
    <message>
        <source>Each point is a piece of one layer: its FLOPs for each byte that it moves, and how fast it does them. The **roofs** are what the machine can move and compute at most: under the slope a piece waits for memory, under the flat roof it computes. The ladder lists rates and latencies, with where each comes from.</source>
        <translation>Jeder Punkt ist ein Teil einer Schicht: seine FLOPs je bewegtem Byte und wie schnell er sie macht. Die **Dächer** sind, was die Maschine höchstens bewegen und rechnen kann: Unter der Schräge wartet ein Teil auf den Speicher, unter dem flachen Dach rechnet er. Die Leiter nennt Raten und Latenzen mit der Herkunft jeder Zahl.</translation>
    </message>
    <message>
        <source>FLOPs are those that kernels execute, of fused attention half of the scores; bytes are the least that they move; times are those of the prediction. Ridge: peak FLOP/s over bytes/s of memory.</source>
        <translation>FLOPs sind die, die Kernel ausführen, bei fusionierter Attention die Hälfte der Scores; Bytes sind die, die sie mindestens bewegen; Zeiten sind die der Vorhersage. Grat: Spitzenrate der FLOP/s durch Bytes/s des Speichers.</translation>
    </message>
    <message>
        <source>Click a dot or a row to see what limits that piece.</source>
        <translation>Klicke auf einen Punkt oder eine Zeile, um zu sehen, was dieses Teil begrenzt.</translation>
    </message>
</context>
<context>
    <name>SweepView</name>
    <message>
        <source>communication, rank that computes most</source>
        <translation>Kommunikation, meistrechnender Rang</translation>
    </message>
    <message>
        <source>communication over computing</source>
        <translation>Kommunikation zu Rechnen</translation>
    </message>
    <message>
        <source>How each point ends</source>
        <translation>Wie jeder Punkt endet</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>A dot: the figure that Explore has once the point is used.</source>
        <translation>Ein Punkt: die Zahl, die Erkunden zeigt, wenn er übernommen ist.</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>A ring: a rank needs more memory than its device has.</source>
        <translation>Ein Ring: Ein Rang braucht mehr Speicher, als sein Gerät hat.</translation>
    </message>
    <message>
        <source>cannot be</source>
        <translation>geht nicht</translation>
    </message>
    <message>
        <source>A cross: a rule of the settings forbids it; its sentence stands below the plot.</source>
        <translation>Ein Kreuz: Eine Regel der Einstellungen verbietet ihn; ihr Satz steht unter dem Bild.</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>Click a point to see it; “Use it” makes it the setup.</source>
        <translation>Ein Klick auf einen Punkt zeigt ihn; „Übernehmen“ stellt ihn ein.</translation>
    </message>
    <message>
        <source>What cannot be</source>
        <translation>Was nicht geht</translation>
    </message>
    <message>
        <source>inside a node</source>
        <translation>in einem Knoten</translation>
    </message>
    <message>
        <source>across nodes</source>
        <translation>über Knoten hinweg</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>Schrittdauer</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Token je Sekunde</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>scaling efficiency</source>
        <translation>Skalierungseffizienz</translation>
    </message>
    <message>
        <source>memory of the fullest rank</source>
        <translation>Speicher des vollsten Rangs</translation>
    </message>
    <message>
        <source>bubble of whole step</source>
        <translation>Blase am ganzen Schritt</translation>
    </message>
    <message>
        <source>computing, busiest rank</source>
        <translation>Rechnen, vollster Rang</translation>
    </message>
    <message>
        <source>%1 over %2</source>
        <translation>%1 über %2</translation>
    </message>
    <message>
        <source>%1 over %2, for each %3</source>
        <translation>%1 über %2, je %3</translation>
    </message>
    <message>
        <source>Predicting the points: %1 done.</source>
        <translation>Die Punkte werden vorhergesagt: %1 fertig.</translation>
    </message>
    <message>
        <source>The curve below is of other settings: sweep again.</source>
        <translation>Die Kurve gehört zu anderen Einstellungen: neu berechnen.</translation>
    </message>
    <message>
        <source>%1, does not fit: it needs %2 of %3</source>
        <translation>%1, zu groß: braucht %2 von %3</translation>
    </message>
    <message>
        <source>Not swept yet: press Sweep.</source>
        <translation>Noch nicht berechnet: „Parameterreihe“ drücken.</translation>
    </message>
    <message>
        <source>run here</source>
        <translation>hier gelaufen</translation>
    </message>
    <message>
        <source>A diamond: what a run of the point was seen to do; hollow where it was rehearsed.</source>
        <translation>Eine Raute: was ein Lauf des Punktes zeigte; hohl, wo er geprobt wurde.</translation>
    </message>
    <message>
        <source>, measured %1</source>
        <translation>, gemessen %1</translation>
    </message>
    <message>
        <source>, rehearsed %1</source>
        <translation>, geprobt %1</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>rehearsed</source>
        <translation>geprobt</translation>
    </message>
    <message>
        <source>%1 on %2 ranks</source>
        <translation>%1 auf %2 Rängen</translation>
    </message>
    <message>
        <source>exposed, rank that computes most</source>
        <translation>unverdeckt, meistrechnender Rang</translation>
    </message>
    <message>
        <source>MFU, attention in full</source>
        <translation>MFU, Attention voll</translation>
    </message>
    <message>
        <source>Not swept yet. Sweep predicts what is set once for every value, and says why a value cannot be. Type values as 1,2,4 or as a range: 1..4 counts, and 1..64*2 doubles from 1 to 64.</source>
        <translation>Noch nicht berechnet. Die Parameterreihe sagt das Eingestellte für jeden Wert einmal vorher und nennt, warum ein Wert nicht sein kann. Schreibe Werte als 1,2,4 oder als Bereich: 1..4 zählt, und 1..64*2 verdoppelt von 1 bis 64.</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>wie es ist</translation>
    </message>
    <message>
        <source>The number of ranks changes, from %1 to %2.</source>
        <translation>Die Zahl der Ränge ändert sich, von %1 bis %2.</translation>
    </message>
    <message>
        <source>The batch of a step changes, from %1 to %2 sequences.</source>
        <translation>Der Batch eines Schritts ändert sich, von %1 bis %2 Sequenzen.</translation>
    </message>
    <message>
        <source>Ranks at all points: %1; sequences of a batch: %2.</source>
        <translation>Ränge an allen Punkten: %1; Sequenzen eines Batches: %2.</translation>
    </message>
    <message>
        <source>memory of a device that may be used: %1</source>
        <translation>Speicher eines Geräts, der benutzt werden darf: %1</translation>
    </message>
    <message>
        <source>launch line of %1</source>
        <translation>Startzeile von %1</translation>
    </message>
    <message>
        <source>Limits of the search hold for the points: %1.</source>
        <translation>Für die Punkte gelten die Grenzen der Suche: %1.</translation>
    </message>
</context>
<context>
    <name>parallelarium::SweepView</name>
    <message>
        <source>Sweep</source>
        <comment>what the button does</comment>
        <translation>Punkte vorhersagen</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>Parameterreihe</translation>
    </message>
    <message>
        <source>S&amp;weep view</source>
        <translation>Parameter&amp;reihe</translation>
    </message>
    <message>
        <source>Picture of the sweep</source>
        <translation>Bild der Parameterreihe</translation>
    </message>
    <message>
        <source>The setting that varies</source>
        <translation>Die Einstellung, die sich ändert</translation>
    </message>
    <message>
        <source>Its values</source>
        <translation>Ihre Werte</translation>
    </message>
    <message>
        <source>A second setting, one line for each value</source>
        <translation>Eine zweite Einstellung, eine Linie je Wert</translation>
    </message>
    <message>
        <source>Values of the second setting</source>
        <translation>Werte der zweiten Einstellung</translation>
    </message>
    <message>
        <source>The figure that is shown</source>
        <translation>Die gezeigte Größe</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Makes the selected point the setup</source>
        <translation>Stellt den gewählten Punkt ein</translation>
    </message>
    <message>
        <source>Vary</source>
        <translation>Ändere</translation>
    </message>
    <message>
        <source>and</source>
        <translation>und</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeige</translation>
    </message>
    <message>
        <source>nothing else</source>
        <translation>nichts weiter</translation>
    </message>
    <message>
        <source>All points of the plot are predicted in the same way.</source>
        <translation>Alle Punkte im Bild werden ebenso vorhergesagt.</translation>
    </message>
    <message>
        <source>Hidden until you answer.</source>
        <translation>Verborgen, bis du antwortest.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>The engine is busy with a run or a calibration.</source>
        <translation>Die Engine ist mit einem Lauf oder einer Kalibrierung beschäftigt.</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>What one setting does</source>
        <translation>Was eine Einstellung bewirkt</translation>
    </message>
    <message>
        <source>A curve is one figure over the values of a setting, everything else as it is. Points that cannot be are marked with the reason, and lines show the limit of the memory and the border of a node. Click on a point to see it, and **Use it** to make it the setup.</source>
        <translation>Eine Kurve ist eine Größe über den Werten einer Einstellung, alles andere bleibt. Punkte, die es nicht geben kann, tragen ihren Grund, und Linien zeigen die Grenze des Speichers und den Rand eines Knotens. Klicke auf einen Punkt, um ihn zu sehen, und mit **Übernehmen** wird er zur Einstellung.</translation>
    </message>
    <message>
        <source>Press Sweep, then click a point to see its figure.</source>
        <translation>Drücke „Punkte vorhersagen“, dann klicke auf einen Punkt, um seine Zahl zu sehen.</translation>
    </message>
    <message>
        <source>Values such as 1,2,4, or a range: 1..4 counts, 1..64*2 doubles</source>
        <translation>Werte wie 1,2,4 oder ein Bereich: 1..4 zählt, 1..64*2 verdoppelt</translation>
    </message>
    <message>
        <source>Keep GPUs and batch</source>
        <translation>GPUs und Batch behalten</translation>
    </message>
    <message>
        <source>DP and micro-batches fill the GPUs and the batch of the base at every point, unless they vary themselves</source>
        <translation>DP und Mikro-Batches füllen an jedem Punkt die GPUs und den Batch der Ausgangslage, wenn sie sich nicht selbst ändern</translation>
    </message>
    <message>
        <source>Sweep: points (CSV)</source>
        <translation>Parameterreihe: Punkte (CSV)</translation>
    </message>
    <message>
        <source>Of the point of the sweep with %1: %2.</source>
        <translation>Vom Punkt der Parameterreihe mit %1: %2.</translation>
    </message>
    <message>
        <source>Keep the batch</source>
        <translation>Den Batch behalten</translation>
    </message>
    <message>
        <source>Keep the GPUs</source>
        <translation>Die GPUs behalten</translation>
    </message>
</context>
<context>
    <name>parallelarium::SettingSweep</name>
    <message>
        <source>The point of the sweep</source>
        <translation>Der Punkt der Parameterreihe</translation>
    </message>
</context>
<context>
    <name>parallelarium::ClassDialog</name>
    <message>
        <source>Class</source>
        <translation>Kurs</translation>
    </message>
    <message>
        <source>In a class the numbers of each lesson follow from the code that your teacher gives out and from your name. Lessons that are under way keep their numbers.</source>
        <translation>In einem Kurs folgen die Zahlen jeder Lektion aus dem Code, den die Lehrkraft ausgibt, und aus deinem Namen. Begonnene Lektionen behalten ihre Zahlen.</translation>
    </message>
    <message>
        <source>Class code</source>
        <translation>Kurs-Code</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Dein Name</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Teilnehmen</translation>
    </message>
    <message>
        <source>Leave the class</source>
        <translation>Kurs verlassen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Sichern</translation>
    </message>
    <message>
        <source>Without the answers</source>
        <translation>Ohne die Antworten</translation>
    </message>
    <message>
        <source>With the answers</source>
        <translation>Mit den Antworten</translation>
    </message>
    <message>
        <source>Handout</source>
        <translation>Arbeitsblatt</translation>
    </message>
    <message>
        <source>The lesson on paper</source>
        <translation>Die Lektion auf Papier</translation>
    </message>
    <message>
        <source>PDF files (*.pdf);;Web pages (*.html)</source>
        <translation>PDF-Dateien (*.pdf);;Webseiten (*.html)</translation>
    </message>
    <message>
        <source>This is an exam</source>
        <translation>Dies ist eine Prüfung</translation>
    </message>
    <message>
        <source>In an exam hints, answers and the room Plan are off, each question is answered once, and the numbers are other ones. A code with the word exam, such as exam-7, is always one.</source>
        <translation>In einer Prüfung gibt es keine Tipps, keine Lösungen und keinen Raum „Planen“, jede Frage wird einmal beantwortet, und die Zahlen sind andere. Ein Code mit dem Wort „exam“, etwa exam-7, ist immer eine.</translation>
    </message>
</context>
<context>
    <name>handout</name>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation>Deine Antwort</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>A solution</source>
        <translation>Eine Lösung</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Numbers: %1</source>
        <translation>Zahlen: %1</translation>
    </message>
</context>
<context>
    <name>parallelarium::RecipeSheet</name>
    <message>
        <source>Launch line</source>
        <translation>Startzeile</translation>
    </message>
    <message>
        <source>Framework</source>
        <translation>Framework</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Save as …</source>
        <translation>&amp;Speichern unter …</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Save the launch line</source>
        <translation>Startzeile speichern</translation>
    </message>
    <message>
        <source>as %1 reads it, commit %2 of %3</source>
        <translation>wie %1 sie liest, Commit %2 vom %3</translation>
    </message>
    <message>
        <source>Nothing: it says every setting.</source>
        <translation>Nichts: jede Einstellung steht darin.</translation>
    </message>
    <message>
        <source>Wrote %1.</source>
        <translation>%1 ist geschrieben.</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2.</source>
        <translation>%1 kann nicht geschrieben werden: %2.</translation>
    </message>
    <message>
        <source>A step takes %1 only where the training script sets what is listed here.</source>
        <translation>Ein Schritt dauert nur dann %1, wenn das Trainingsskript setzt, was hier steht.</translation>
    </message>
    <message>
        <source>A step takes %1 only where the training script sets what it can of this; with these settings it takes %2.</source>
        <translation>Ein Schritt dauert nur dann %1, wenn das Trainingsskript davon setzt, was es kann; mit diesen Einstellungen dauert er %2.</translation>
    </message>
    <message>
        <source>What the text leaves out and adds</source>
        <translation>Was der Text auslässt und hinzufügt</translation>
    </message>
    <message>
        <source>learning rate %1</source>
        <translation>Lernrate %1</translation>
    </message>
    <message>
        <source>gradient clip %1</source>
        <translation>Gradientenbegrenzung %1</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>Startwert %1</translation>
    </message>
    <message>
        <source>Added: %1. This program begins with that, and it is no advice: put in your own, as well as your data and tokenizer.</source>
        <translation>Hinzugefügt: %1. Damit beginnt dieses Programm, und es ist kein Rat: Setz deine Werte ein, ebenso deine Daten und deinen Tokenizer.</translation>
    </message>
    <message>
        <source>no gradient clip</source>
        <translation>keine Gradientenbegrenzung</translation>
    </message>
    <message>
        <source>It leaves out nothing.</source>
        <translation>Er lässt nichts aus.</translation>
    </message>
    <message>
        <source>As it is written, the line makes a step of %1, as do the settings that it was written for.</source>
        <translation>Wie sie dasteht, ergibt die Zeile einen Schritt von %1, wie auch die Einstellungen, für die sie geschrieben ist.</translation>
    </message>
    <message>
        <source>As it is written, the line makes a step of %1. The settings that it was written for, of which it cannot say what is listed here, make one of %2.</source>
        <translation>Wie sie dasteht, ergibt die Zeile einen Schritt von %1. Die Einstellungen, für die sie geschrieben ist und von denen sie das hier Genannte nicht sagen kann, ergeben einen von %2.</translation>
    </message>
</context>
<context>
    <name>parallelarium::RecipeReader</name>
    <message>
        <source>Read a launch line</source>
        <translation>Startzeile lesen</translation>
    </message>
    <message>
        <source>the one whose settings it names</source>
        <translation>das, dessen Einstellungen es nennt</translation>
    </message>
    <message>
        <source>Framework</source>
        <translation>Framework</translation>
    </message>
    <message>
        <source>Text of the launch line or configuration</source>
        <translation>Text der Startzeile oder Konfiguration</translation>
    </message>
    <message>
        <source>Paste here what starts your training: a launch line of Megatron-LM, or the configuration of another framework.</source>
        <translation>Füge hier ein, womit dein Training startet: eine Startzeile von Megatron-LM oder die Konfiguration eines anderen Frameworks.</translation>
    </message>
    <message>
        <source>The text names no setting of a framework that is known here.</source>
        <translation>Der Text nennt keine Einstellung eines Frameworks, das hier bekannt ist.</translation>
    </message>
    <message>
        <source>%1; GPUs: %2; %3; global batch: %4; tokens of a sequence: %5.</source>
        <translation>%1; GPUs: %2; %3; globaler Batch: %4; Token einer Sequenz: %5.</translation>
    </message>
    <message>
        <source> Like %1, but: %2.</source>
        <translation> Wie %1, aber: %2.</translation>
    </message>
    <message>
        <source> The layout is the text&apos;s, the shape %1&apos;s. The text itself says: %2.</source>
        <translation> Die Aufteilung ist die des Textes, die Form die von %1. Der Text selbst sagt: %2.</translation>
    </message>
    <message>
        <source>Take the model as the text says it</source>
        <translation>Das Modell nehmen, wie der Text es sagt</translation>
    </message>
    <message>
        <source>&amp;Take it as %1</source>
        <translation>Als %1 &amp;nehmen</translation>
    </message>
</context>
<context>
    <name>parallelarium::PasteSheet</name>
    <message>
        <source>&amp;Open a file …</source>
        <translation>Datei ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>What was not understood</source>
        <translation>Was nicht verstanden wurde</translation>
    </message>
    <message>
        <source>Nothing is read yet.</source>
        <translation>Noch ist nichts gelesen.</translation>
    </message>
    <message>
        <source>%1 is too large to be read here.</source>
        <translation>%1 ist zu groß, um hier gelesen zu werden.</translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2.</source>
        <translation>%1 kann nicht geöffnet werden: %2.</translation>
    </message>
</context>
<context>
    <name>parallelarium::ClusterSheet</name>
    <message>
        <source>A cluster of your own</source>
        <translation>Ein eigenes Cluster</translation>
    </message>
    <message>
        <source>Output of nvidia-smi topo -m and of nccl-tests</source>
        <translation>Ausgabe von nvidia-smi topo -m und von nccl-tests</translation>
    </message>
    <message>
        <source>Paste here what “nvidia-smi topo -m” prints on a node, and the output of nccl-tests: of a node, and of several. What they do not say stays as in %1.</source>
        <translation>Füge hier ein, was „nvidia-smi topo -m“ auf einem Knoten ausgibt, und die Ausgabe von nccl-tests: von einem Knoten und von mehreren. Was sie nicht sagen, bleibt wie bei %1.</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Verwenden</translation>
    </message>
</context>
<context>
    <name>defence</name>
    <message>
        <source>Name: %1 · numbers: %2 · %3 minutes</source>
        <translation>Name: %1 · Zahlen: %2 · %3 Minuten</translation>
    </message>
    <message>
        <source>Not answered.</source>
        <translation>Nicht beantwortet.</translation>
    </message>
    <message>
        <source>Run (%1): DP %2, TP %3, PP %4 with %5, %6 training steps, %7 sent by all ranks, last loss %8.</source>
        <translation>Lauf (%1): DP %2, TP %3, PP %4 mit %5, %6 Trainingsschritte, %7 von allen Rängen gesendet, letzter Verlust %8.</translation>
    </message>
    <message>
        <source>For</source>
        <translation>Für</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>of</source>
        <translation>von</translation>
    </message>
    <message>
        <source>**Together**: the engine marks %1, the teacher %2</source>
        <translation>**Zusammen**: %1 gibt das Programm, %2 die Lehrkraft</translation>
    </message>
    <message>
        <source>%1 + ____</source>
        <translation>%1 + ____</translation>
    </message>
    <message>
        <source>Reasons</source>
        <translation>Gründe</translation>
    </message>
    <message>
        <source>Export the plan</source>
        <translation>Plan exportieren</translation>
    </message>
    <message>
        <source>PDF files (*.pdf)</source>
        <translation>PDF-Dateien (*.pdf)</translation>
    </message>
    <message>
        <source>a model of %1 layers, %2 wide</source>
        <translation>einem Modell mit %1 Schichten der Breite %2</translation>
    </message>
    <message>
        <source>Commit your plan first: paper would tell what the lesson still asks for.</source>
        <translation>Lege dich zuerst auf einen Plan fest: Papier würde verraten, wonach die Lektion noch fragt.</translation>
    </message>
    <message>
        <source>Your answers are judged anew …</source>
        <translation>Deine Antworten werden neu beurteilt …</translation>
    </message>
</context>
<context>
    <name>timeline</name>
    <message>
        <source>inside layers</source>
        <translation>in den Schichten</translation>
    </message>
    <message>
        <source>stages</source>
        <translation>Stufen</translation>
    </message>
    <message>
        <source>replicas</source>
        <translation>Replikaten</translation>
    </message>
    <message>
        <source>TP ranks</source>
        <translation>TP-Rängen</translation>
    </message>
    <message>
        <source>CP ranks</source>
        <translation>CP-Rängen</translation>
    </message>
    <message>
        <source>between %1</source>
        <translation>zwischen %1</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 und %2</translation>
    </message>
</context>
<context>
    <name>parallelarium::TechniquesSheet</name>
    <message>
        <source>Each technique alone</source>
        <translation>Jede Technik für sich</translation>
    </message>
    <message>
        <source>&amp;Devices</source>
        <translation>&amp;Geräte</translation>
    </message>
    <message>
        <source>&amp;Open as a setup</source>
        <translation>Als Einstellung ö&amp;ffnen</translation>
    </message>
    <message>
        <source>alone</source>
        <translation>allein</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>sent a step</source>
        <translation>gesendet</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>unverdeckt</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Blase</translation>
    </message>
    <message>
        <source>efficiency</source>
        <translation>Effizienz</translation>
    </message>
    <message>
        <source>of the fullest device</source>
        <translation>des vollsten Geräts</translation>
    </message>
    <message>
        <source>by the rank that sends most</source>
        <translation>vom Rang, der am meisten sendet</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>communication that no computing hides, on the busiest rank</source>
        <translation>Kommunikation, die kein Rechnen verdeckt, auf dem am längsten rechnenden Rang</translation>
    </message>
    <message>
        <source>of a pipeline: idle time over idle plus busy time of all ranks</source>
        <translation>einer Pipeline: untätige Zeit durch untätige und tätige Zeit aller Ränge</translation>
    </message>
    <message>
        <source>%1, too much</source>
        <translation>%1, zu viel</translation>
    </message>
    <message>
        <source>what each of these devices does, as share of what one with room for all would do</source>
        <translation>was jedes dieser Geräte leistet, als Anteil dessen, was eines mit Platz für alles leisten würde</translation>
    </message>
    <message numerus="yes">
        <source>%1 on %2, %n sequences a step, predicted. One device with room for all would take %3.</source>
        <translation>
            <numerusform>%1 auf %2, %n Sequenz je Schritt, vorhergesagt. Ein Gerät mit Platz für alles bräuchte %3.</numerusform>
            <numerusform>%1 auf %2, %n Sequenzen je Schritt, vorhergesagt. Ein Gerät mit Platz für alles bräuchte %3.</numerusform>
        </translation>
    </message>
    <message>
        <source>Predicting each technique alone …</source>
        <translation>Jede Technik wird für sich vorhergesagt …</translation>
    </message>
</context>
<context>
    <name>parallelarium::TodaySheet</name>
    <message>
        <source>&amp;Compare with it</source>
        <translation>Damit &amp;vergleichen</translation>
    </message>
    <message>
        <source>What is trained today</source>
        <translation>Was heute trainiert wird</translation>
    </message>
    <message>
        <source>Or type what you know. The rest comes from the text above, or else from the search.</source>
        <translation>Oder tippe, was du weißt. Der Rest kommt aus dem Text oben oder sonst aus der Suche.</translation>
    </message>
    <message>
        <source>of %1 (now: %2)</source>
        <translation>nach %1 (jetzt: %2)</translation>
    </message>
    <message>
        <source>for %1 GPUs (now: %2)</source>
        <translation>für %1 GPUs (jetzt: %2)</translation>
    </message>
    <message>
        <source>with a global batch of %1 (now: %2)</source>
        <translation>mit einem globalen Batch von %1 (jetzt: %2)</translation>
    </message>
    <message>
        <source>with %1 tokens a sequence (now: %2)</source>
        <translation>mit %1 Tokens je Sequenz (jetzt: %2)</translation>
    </message>
    <message>
        <source> The search then is %1.</source>
        <translation> Gesucht wird dann: %1.</translation>
    </message>
</context>
<context>
    <name>ownFigures</name>
    <message>
        <source>Figure</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Richtig</translation>
    </message>
</context>
<context>
    <name>planFigures</name>
    <message>
        <source>**%1:** it would be right in %2; the question asks for %3. 1 GiB is 1.074 GB.</source>
        <translation>**%1:** In %2 wäre es richtig; gefragt ist die Zahl in %3. 1 GiB sind 1,074 GB.</translation>
    </message>
    <message>
        <source>You wrote down: **%1**.</source>
        <translation>Du hast aufgeschrieben: **%1**.</translation>
    </message>
</context>
</TS>
